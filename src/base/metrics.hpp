/// Counters, gauges, histograms, and the Prometheus text format; and the metrics of the process, from /proc/self.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// The types of metrics; their owners hold them. Threads update them a few times for each request, never for each
/// sample, so relaxed atomics are enough. Threads: any, for the types up to exposition.
namespace seriesgate {

class counter {
  public:
    void add(std::uint64_t amount = 1) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

/// Grows and shrinks, such as open connections. Each add has a sub of the same amount.
class gauge {
  public:
    void add(std::int64_t amount = 1) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    void sub(std::int64_t amount = 1) noexcept { value_.fetch_sub(amount, std::memory_order_relaxed); }
    void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
    std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::int64_t> value_{0};
};

/// Counts one in a gauge for as long as it lives.
class gauge_hold {
    struct release {
        void operator()(gauge* held) const noexcept { held->sub(); }
    };
    std::unique_ptr<gauge, release> held_;

  public:
    explicit gauge_hold(gauge& held) noexcept : held_(&held) { held.add(); }
};

/// One counter for each enumerator. Enum counts from 0 and ends with `count_`.
template <typename Enum>
class counter_by {
  public:
    static constexpr std::size_t size = static_cast<std::size_t>(Enum::count_);

    counter& operator[](Enum key) noexcept { return counters_[static_cast<std::size_t>(key)]; }
    const counter& operator[](Enum key) const noexcept { return counters_[static_cast<std::size_t>(key)]; }

    std::uint64_t total() const noexcept {
        std::uint64_t sum = 0;
        for (const counter& each : counters_) sum += each.value();
        return sum;
    }

  private:
    std::array<counter, size> counters_;
};

/// The name of an enumerator. @param names in the order of the enumerators.
template <typename Enum>
constexpr std::string_view name_among(const std::array<std::string_view, counter_by<Enum>::size>& names,
                                      Enum one) noexcept {
    assert(one < Enum::count_);
    return names[static_cast<std::size_t>(one)];
}

/// One counter for each HTTP status code; all numbers that are no status share `other`.
class counter_by_status {
  public:
    static constexpr unsigned code_min = 100;
    static constexpr unsigned code_max = 599;
    static constexpr unsigned other = 0;

    /// @param code any number; outside code_min..code_max it means `other`.
    counter& operator[](unsigned code) noexcept { return counters_[slot(code)]; }
    const counter& operator[](unsigned code) const noexcept { return counters_[slot(code)]; }

    std::uint64_t total() const noexcept {
        std::uint64_t sum = 0;
        for (const counter& each : counters_) sum += each.value();
        return sum;
    }

  private:
    static constexpr std::size_t slot(unsigned code) noexcept {
        return code < code_min || code > code_max ? 0 : code - code_min + 1;
    }

    std::array<counter, code_max - code_min + 2> counters_;
};

/// A histogram of durations. Its buckets fit remote write: a local store answers in milliseconds, senders give up after
/// 30 s.
class duration_histogram {
  public:
    /// Inclusive, in seconds.
    static constexpr std::array<double, 15> bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                   0.25,   0.5,   1,      2.5,   5,    10,    30};

    struct snapshot {
        std::array<std::uint64_t, bounds.size()> cumulative;  ///< observations of at most bounds[i]
        std::uint64_t count;                                  ///< all observations: the bucket `+Inf`
        std::chrono::nanoseconds sum;
    };

    /// Lock-free. Counts a negative duration as zero.
    void observe(std::chrono::nanoseconds duration) noexcept;

    /// Buckets and `count` are consistent; `sum` may differ by an observation.
    snapshot read() const noexcept;

  private:
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> buckets_{};  // not cumulative; the last one is +Inf
    std::atomic<std::uint64_t> sum_nanoseconds_{0};
};

inline constexpr std::string_view exposition_content_type = "text/plain; version=0.0.4; charset=utf-8";

enum class metric_type : std::uint8_t { counter, gauge, histogram };

struct metric_label {
    std::string_view name;   ///< [a-zA-Z_][a-zA-Z0-9_]*; not checked
    std::string_view value;  ///< any UTF-8; escaped when written
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
/// Threads: one. Source: https://prometheus.io/docs/instrumenting/exposition_formats/
class exposition {
  public:
    /// Writes HELP and TYPE. Call it once for each name, as the format requires.
    void family(std::string_view name, std::string_view help, metric_type type);

    template <std::integral Integer>
    void sample(metric_labels labels, Integer value) {
        append("", labels, "", std::to_string(value));
    }
    /// Writes the shortest decimal that reads back as the same double.
    void sample(metric_labels labels, double value);
    /// Writes buckets, sum and count, in seconds.
    void sample(metric_labels labels, const duration_histogram::snapshot& value);

    const std::string& text() const noexcept { return text_; }
    std::string take() noexcept { return std::move(text_); }

  private:
    void append(std::string_view suffix, metric_labels labels, std::string_view le, std::string_view number);

    std::string text_;
    std::string name_;
};

void write_counter(exposition& out, std::string_view name, std::string_view help, const counter& value);
void write_gauge(exposition& out, std::string_view name, std::string_view help, const gauge& value);
template <class Number>
requires std::is_arithmetic_v<Number>
void write_gauge(exposition& out, std::string_view name, std::string_view help, Number value) {
    out.family(name, help, metric_type::gauge);
    out.sample({}, value);
}
void write_histogram(exposition& out, std::string_view name, std::string_view help, const duration_histogram& value);

/// A family with a sample for each enumerator, zeros included, so that rate() sees the first event.
/// @param label name of the label; its values come from name_of().
template <typename Enum>
void write_counters(exposition& out, std::string_view name, std::string_view help, std::string_view label,
                    const counter_by<Enum>& values) {
    out.family(name, help, metric_type::counter);
    for (std::size_t i = 0; i < values.size; ++i) {
        const auto key = static_cast<Enum>(i);
        out.sample({{label, name_of(key)}}, values[key].value());
    }
}

/// A family with a sample for each status code counted so far, in the label `code`.
/// @param always codes written from zero on, so that rate() sees the first event.
void write_status_counters(exposition& out, std::string_view name, std::string_view help,
                           const counter_by_status& values, std::span<const unsigned> always);

// --- The process.

/// What the kernel reports about this process. Unreadable values are 0.
struct process_stats {
    double cpu_seconds = 0;         ///< user and system time since the start
    double start_time_seconds = 0;  ///< Unix time
    std::uint64_t resident_memory_bytes = 0;
    std::uint64_t virtual_memory_bytes = 0;
    std::uint64_t open_fds = 0;
    std::uint64_t max_fds = 0;
    std::uint64_t threads = 0;
};

/// Reads /proc/self: some ten system calls, well under a millisecond. For scrapes, not for requests. Threads: any.
/// Source: proc(5), /proc/pid/stat; the same values as in the Prometheus client libraries.
process_stats read_process_stats();

/// Writes the families process_*, named as in the Prometheus client libraries.
void write(exposition& out, const process_stats& stats);

}  // namespace seriesgate
