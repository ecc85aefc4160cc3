/// What the process says: one event, one line on stderr.
#pragma once

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

// One event of the log as one line of text.

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

// Lines on their way to a file descriptor that nobody waits for.

namespace seriesgate::log {

/// Whoever reads the log may be slow, stopped, or gone (a pipe, a terminal, a full disk), and no request may wait for
/// that. So lines are put into a queue of bounded size, and one thread writes them, in order. What finds the queue full
/// is lost and counted; before the next line that does not, another one says how many were. Threads: any.
class line_writer {
  public:
    /// The line that tells of lost ones.
    using loss_line = std::function<std::string(std::uint64_t lines)>;

    static constexpr std::size_t queued_bytes_max = 1u << 20;

    /// @param descriptor stays the caller's.
    line_writer(int descriptor, loss_line describe);
    line_writer(const line_writer&) = delete;
    line_writer& operator=(const line_writer&) = delete;
    /// What has not been written yet is lost: see flush(). Waits for a write that the descriptor neither takes nor
    /// refuses, as that of a terminal may be.
    ~line_writer() = default;

    /// @param line with its end of line.
    void put(std::string line);

    /// Waits until what was put before is written, but no longer than that.
    void flush(std::chrono::steady_clock::duration limit);

    /// Ends the thread or, if it is writing, is rid of it: then this must never be destroyed. What is put from then on
    /// may stay in the queue.
    void let_go();

    /// Lines that were put and have been lost, since the start. (Those that tell of them do not count.)
    [[nodiscard]] std::uint64_t lost() const;

  private:
    struct queued {
        std::string text;
        std::uint64_t tells = 0;  ///< of so many lost lines; 0: a line that was put
    };

    void add(std::string line, std::uint64_t tells = 0);
    void run(const std::stop_token& stop);
    bool write_whole(const std::stop_token& stop, const std::string& line) const;

    const int descriptor_;
    const loss_line describe_;
    mutable std::mutex guard_;
    std::condition_variable_any wake_;
    std::condition_variable_any idle_;
    std::deque<queued> queue_;  // the first one is being written
    std::size_t queued_bytes_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t told_ = 0;  // of the lost ones
    std::jthread thread_;     // last: it is joined before the rest goes
};

}  // namespace seriesgate::log

/// Nobody waits for a line to be written, see line_writer, and nothing that is said makes fail what it is said of: a
/// line that cannot be written is lost. Threads: any.
namespace seriesgate::log {

/// From here on. Until then: logfmt, from info upwards.
/// @param from nothing below it is written.
void set_up(format as, level from) noexcept;

/// Whether what is of this level is written, for who would have to work for its fields.
[[nodiscard]] bool is_written(level of) noexcept;

/// @param message the event in a few words that never change, so that it can be searched for and counted; what changes
/// is in the fields.
void write(level of, std::string_view message, std::span<const field> with) noexcept;

/// Takes whole lines, with their ends, in place of stderr. Threads: any, those that write.
using line_sink = std::function<void(const std::string& line)>;
/// For the whole process, until it is called with null. The sink outlives that.
void redirect(line_sink* to) noexcept;

/// Waits until all is written, but no longer than that: for who is about to end the process.
void flush(std::chrono::steady_clock::duration limit) noexcept;

/// Lines that could not be written since the start.
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

// --- A log line now and then about something that may happen very often.

/// Adds events up and tells, at most once in an interval, that it is time to say so.
/// Threads: any.
class sparse_log {
  public:
    using clock = monotonic_clock;

  private:
    const clock::duration interval_;
    std::atomic<clock::rep> next_line_{0};
    std::atomic<std::uint64_t> events_{0};

  public:
    static constexpr auto usual_interval = std::chrono::seconds{10};

    sparse_log() noexcept : sparse_log(usual_interval) {}
    explicit sparse_log(clock::duration interval) noexcept : interval_(interval) {}

    /// @return the events since the last line, if a line is due now: the caller then writes it.
    std::optional<std::uint64_t> count(std::uint64_t events, clock::time_point now = clock::now()) noexcept {
        events_.fetch_add(events, std::memory_order_relaxed);
        auto due = next_line_.load(std::memory_order_relaxed);
        const auto at = now.time_since_epoch().count();
        if (at < due || !next_line_.compare_exchange_strong(due, at + interval_.count())) return {};
        return events_.exchange(0, std::memory_order_relaxed);
    }

    /// What nobody has been told of, when a line has been due for a whole interval: for who looks every now and then,
    /// so that the last events of many are not kept for ever. Events that go on have a line of their own by then, which
    /// says more. @return as count(), and nothing if there is nothing to tell.
    std::optional<std::uint64_t> rest(clock::time_point now = clock::now()) noexcept {
        const auto due = next_line_.load(std::memory_order_relaxed);
        if (events_.load(std::memory_order_relaxed) == 0) return {};
        if (now.time_since_epoch().count() < due + interval_.count()) return {};
        return count(0, now);
    }
};

}  // namespace seriesgate
