/// One event of the log as one line of text.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace seriesgate::log {

enum class level : std::uint8_t { debug, info, warn, error };
enum class format : std::uint8_t { logfmt, json };

/// As in the configuration and in a line: `debug`, `info`, `warn`, `error`.
std::string_view name_of(level of) noexcept;

/// A key and its value. Keys are ours, in the form of Prometheus' own: `max_series`. Values may be anybody's. Both are
/// only pointed at.
class field {
  public:
    using value_type = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

    template <class Value>
    field(std::string_view key, const Value& value) : key_(key), value_(as_value(value)) {}

    [[nodiscard]] std::string_view key() const noexcept { return key_; }
    [[nodiscard]] const value_type& value() const noexcept { return value_; }

  private:
    template <class Value>
    static value_type as_value(const Value& value) {
        if constexpr (std::same_as<Value, bool>) {
            return value;
        } else if constexpr (std::unsigned_integral<Value>) {
            return std::uint64_t{value};
        } else if constexpr (std::signed_integral<Value>) {
            return std::int64_t{value};
        } else if constexpr (std::floating_point<Value>) {
            return double{value};
        } else {
            return std::string_view{value};
        }
    }

    std::string_view key_;
    value_type value_;
};

using time_point = std::chrono::system_clock::time_point;

/// `ts=2026-01-01T10:00:00.000Z level=warn msg="series refused" tenant=shop`, or the same as one object of JSON;
/// without the end of line. Whatever stands in a value, the line stays one line of valid UTF-8 with the keys that it
/// was given: control characters are escaped, those of terminals (C1) and marks of direction too, and a byte that is
/// no UTF-8 becomes the four characters `\xff`.
/// Sources: https://pkg.go.dev/github.com/go-logfmt/logfmt (quoting is that of JSON), RFC 8259.
std::string line_of(format as, level of, time_point at, std::string_view message, std::span<const field> fields);

}  // namespace seriesgate::log
