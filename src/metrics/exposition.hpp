#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "metrics/counters.hpp"

namespace seriesgate {

/// What GET /metrics answers as Content-Type.
inline constexpr std::string_view exposition_content_type = "text/plain; version=0.0.4; charset=utf-8";

enum class metric_type : std::uint8_t { counter, gauge, histogram };

struct metric_label {
    std::string_view name;   ///< [a-zA-Z_][a-zA-Z0-9_]*, ours, so not checked
    std::string_view value;  ///< any UTF-8; escaped here
};
using metric_labels = std::initializer_list<metric_label>;

/// Writes the Prometheus text format 0.0.4. All samples of a family follow its family() call:
///
///     exposition out;
///     out.family("seriesgate_series_current", "Series admitted in the window.", metric_type::gauge);
///     out.sample({{"window", "hourly"}}, hourly.current);
///     out.sample({{"window", "daily"}}, daily.current);
///     return out.take();
///
/// Threads: one.
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
class exposition {
  public:
    /// Starts a family: HELP and TYPE. Call it once for every name; the format forbids a second time.
    void family(std::string_view name, std::string_view help, metric_type type);

    /// Integers are written exactly.
    template <std::integral Integer>
    void sample(metric_labels labels, Integer value) {
        using widest = std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>;
        append(labels, static_cast<widest>(value));
    }
    /// The shortest decimal that reads back as the same double.
    void sample(metric_labels labels, double value);
    /// Buckets, sum and count, in seconds.
    void sample(metric_labels labels, const duration_histogram::snapshot& value);

    const std::string& text() const noexcept { return text_; }
    std::string take() noexcept { return std::move(text_); }

  private:
    void append(metric_labels labels, std::uint64_t value);
    void append(metric_labels labels, std::int64_t value);

    std::string text_;
    std::string name_;  // of the current family
};

/// Families of one figure.
void write_counter(exposition& out, std::string_view name, std::string_view help, const counter& value);
void write_gauge(exposition& out, std::string_view name, std::string_view help, const gauge& value);
void write_histogram(exposition& out, std::string_view name, std::string_view help, const duration_histogram& value);

/// A family with a sample for each enumerator, zeroes included, so that rate() sees the first error.
/// @param label its values are what name_of() calls the enumerators.
template <typename Enum>
void write_counters(exposition& out, std::string_view name, std::string_view help, std::string_view label,
                    const counter_by<Enum>& values) {
    out.family(name, help, metric_type::counter);
    for (std::size_t i = 0; i < values.size; ++i) {
        const auto key = static_cast<Enum>(i);
        out.sample({{label, name_of(key)}}, values[key].value());
    }
}

/// A family with a sample for each status code that has been counted, in the label `code`.
/// @param always codes that are there before they are counted, so that rate() sees the first.
void write_status_counters(exposition& out, std::string_view name, std::string_view help,
                           const counter_by_status& values, std::span<const unsigned> always = {});

}  // namespace seriesgate
