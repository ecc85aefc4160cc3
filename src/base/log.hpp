/// The log: one event, one line on stderr. Lines, the writer's queue, and throttling.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include "base/clock.hpp"

namespace seriesgate::log {

// --- One event as a line.

enum class level : std::uint8_t { debug, info, warn, error };
enum class format : std::uint8_t { logfmt, json };

/// As in configuration and lines: `debug`, `info`, `warn`, `error`.
std::string_view name_of(level of) noexcept;

/// A key and its value, as views. Keys are ours, in Prometheus' form: `max_series`. Values may contain anything.
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
        if constexpr (std::same_as<Value, bool> || std::floating_point<Value>)
            return value;
        else if constexpr (std::unsigned_integral<Value>)
            return std::uint64_t{value};
        else if constexpr (std::signed_integral<Value>)
            return std::int64_t{value};
        else
            return std::string_view{value};
    }

    std::string_view key_;
    value_type value_;
};

using time_point = std::chrono::system_clock::time_point;

/// `ts=2026-01-01T10:00:00.000Z level=warn msg="series refused" tenant=shop`, or the same as one JSON object; without
/// the line end. For any values the result is one line of valid UTF-8 with the given keys. It escapes control
/// characters (also C1) and direction marks, and writes an invalid byte as the four characters `\xff`. Sources:
/// https://pkg.go.dev/github.com/go-logfmt/logfmt (quotes as in JSON), RFC 8259.
std::string line_of(format as, level of, time_point at, std::string_view message, std::span<const field> fields);

// --- The writer.

/// Readers of the log may be slow or gone (a pipe, a terminal, a full disk), and no request may wait for them. So lines
/// enter a bounded queue, and one thread writes them in order. Lines that find it full are lost and counted; the next
/// line that fits is preceded by one with their number. Threads: any.
class line_writer {
  public:
    using loss_line = std::function<std::string(std::uint64_t lines)>;

    static constexpr std::size_t queued_bytes_max = 1u << 20;

    /// @param descriptor still owned by the caller.
    line_writer(int descriptor, loss_line describe);
    /// Loses unwritten lines: see flush(). Waits for a write in progress, which on a terminal may take forever.
    ~line_writer() = default;

    /// @param line with its line end.
    void put(std::string line);

    /// Waits until all earlier lines are written, for at most `limit`.
    void flush(std::chrono::steady_clock::duration limit);

    /// Ends the thread, or detaches it while it writes: then this object must never be destroyed. Later lines may stay
    /// unwritten.
    void let_go();

    /// Lines lost since the start, without those that report losses.
    [[nodiscard]] std::uint64_t lost() const;

  private:
    struct queued {
        std::string text;
        std::uint64_t tells = 0;  ///< lost lines that it reports; 0: a normal line
    };

    void add(std::string line, std::uint64_t tells = 0);
    void run(const std::stop_token& stop);
    bool write_whole(const std::stop_token& stop, const std::string& line) const;

    const int descriptor_;
    const loss_line describe_;
    mutable std::mutex guard_;
    std::condition_variable_any wake_;
    std::condition_variable_any idle_;
    std::deque<queued> queue_;  // the first is being written
    std::size_t queued_bytes_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t told_ = 0;  // part of lost_ that was reported
    std::jthread thread_;     // last member, so joined before the others are destroyed
};

// --- The process' log. Callers never wait, see line_writer, and never fail: a line that cannot be written is lost.
// Threads: any.

/// Sets format and level; before the first call: logfmt, info. @param from the lowest level that is written.
void set_up(format as, level from) noexcept;

/// Whether this level is written, for callers whose fields are costly.
[[nodiscard]] bool is_written(level of) noexcept;

/// @param message the event in fixed words, so that it can be searched and counted; variable parts are fields.
void write(level of, std::string_view message, std::span<const field> with) noexcept;

/// Receives complete lines in place of stderr. Threads: any that write.
using line_sink = std::function<void(const std::string& line)>;
/// For the whole process, until the call with null. The sink must outlive that call.
void redirect(line_sink* to) noexcept;

/// Waits until all is written, for at most `limit`, before the process ends.
void flush(std::chrono::steady_clock::duration limit) noexcept;

[[nodiscard]] std::uint64_t lost_lines() noexcept;

using fields = std::initializer_list<field>;

inline void debug(std::string_view message, fields with = {}) noexcept {
    write(level::debug, message, with);
}
inline void info(std::string_view message, fields with = {}) noexcept {
    write(level::info, message, with);
}
inline void warn(std::string_view message, fields with = {}) noexcept {
    write(level::warn, message, with);
}
inline void error(std::string_view message, fields with = {}) noexcept {
    write(level::error, message, with);
}

}  // namespace seriesgate::log

namespace seriesgate {

// --- Throttling.

/// Adds events up, and reports at most once an interval that a line is due. Threads: any.
class throttled_log {
  public:
    using clock = monotonic_clock;

  private:
    const clock::duration interval_;
    std::atomic<clock::rep> next_line_{0};
    std::atomic<std::uint64_t> events_{0};

  public:
    static constexpr auto usual_interval = std::chrono::seconds{10};

    throttled_log() noexcept : throttled_log(usual_interval) {}
    explicit throttled_log(clock::duration interval) noexcept : interval_(interval) {}

    /// @return if a line is due: the events since the last line. The caller writes the line.
    std::optional<std::uint64_t> count(std::uint64_t events, clock::time_point now = clock::now()) noexcept {
        events_.fetch_add(events, std::memory_order_relaxed);
        auto due = next_line_.load(std::memory_order_relaxed);
        const auto at = now.time_since_epoch().count();
        if (at < due || !next_line_.compare_exchange_strong(due, at + interval_.count())) return {};
        return events_.exchange(0, std::memory_order_relaxed);
    }

    /// Call it regularly, so that the last events of a burst are reported too. @return the unreported events once a
    /// line has been due for a whole interval; until then further events trigger count(), whose line says more.
    std::optional<std::uint64_t> rest(clock::time_point now = clock::now()) noexcept {
        const auto due = next_line_.load(std::memory_order_relaxed);
        if (events_.load(std::memory_order_relaxed) == 0) return {};
        if (now.time_since_epoch().count() < due + interval_.count()) return {};
        return count(0, now);
    }
};

/// A throttled_log for each of `size` keys from `first` on: all enumerators before `count_`, or a range of numbers.
/// Threads: any.
template <class Key, std::size_t size = static_cast<std::size_t>(Key::count_), std::size_t first = 0>
class throttled_logs {
    std::array<throttled_log, size> logs_{};

  public:
    using clock = throttled_log::clock;

    /// As throttled_log::count(). Nothing for another key.
    std::optional<std::uint64_t> count(Key key, std::uint64_t events, clock::time_point now = clock::now()) noexcept {
        const std::size_t at = static_cast<std::size_t>(key) - first;
        return at < size ? logs_[at].count(events, now) : std::nullopt;
    }

    /// Call it regularly. Calls `tell(key, events)` for each key whose unreported events are due.
    template <class Tell>
    void rest(Tell tell, clock::time_point now = clock::now()) {
        for (std::size_t at = 0; at < size; ++at)
            if (const auto events = logs_[at].rest(now)) tell(static_cast<Key>(at + first), *events);
    }
};

}  // namespace seriesgate
