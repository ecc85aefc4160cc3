#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// What figures are made of; the figures themselves stand beside who counts them. All threads share them and write them
/// a few times per request, never per sample, so plain relaxed atomics are enough and no figure is kept per thread.
/// Threads: any, for everything in this header.
namespace seriesgate {

/// A figure that only grows.
class counter {
  public:
    void add(std::uint64_t amount = 1) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

/// A figure that comes and goes, such as open connections. Every add is paired with a sub of the same amount.
class gauge {
  public:
    void add(std::int64_t amount = 1) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    void sub(std::int64_t amount = 1) noexcept { value_.fetch_sub(amount, std::memory_order_relaxed); }
    void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
    std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::int64_t> value_{0};
};

/// One counter per enumerator. Enum counts from 0 and ends with `count_`.
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

/// One counter per HTTP status code. What is no status code at all (a broken upstream) shares the slot `other`.
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

/// How long something took, in fixed buckets that suit remote write: a local store answers in milliseconds, senders
/// give up after 30 s.
class duration_histogram {
  public:
    struct bucket_bound {
        std::chrono::nanoseconds upper;  ///< inclusive
        std::string_view seconds;        ///< the same as the value of the label `le`
    };
    static constexpr std::array<bucket_bound, 15> bounds{{
        {std::chrono::microseconds{500}, "0.0005"},
        {std::chrono::microseconds{1000}, "0.001"},
        {std::chrono::microseconds{2500}, "0.0025"},
        {std::chrono::milliseconds{5}, "0.005"},
        {std::chrono::milliseconds{10}, "0.01"},
        {std::chrono::milliseconds{25}, "0.025"},
        {std::chrono::milliseconds{50}, "0.05"},
        {std::chrono::milliseconds{100}, "0.1"},
        {std::chrono::milliseconds{250}, "0.25"},
        {std::chrono::milliseconds{500}, "0.5"},
        {std::chrono::milliseconds{1000}, "1"},
        {std::chrono::milliseconds{2500}, "2.5"},
        {std::chrono::seconds{5}, "5"},
        {std::chrono::seconds{10}, "10"},
        {std::chrono::seconds{30}, "30"},
    }};

    struct snapshot {
        std::array<std::uint64_t, bounds.size()> cumulative;  ///< observations at most bounds[i].upper
        std::uint64_t count;                                  ///< all observations: the bucket `+Inf`
        std::chrono::nanoseconds sum;
    };

    /// Lock-free. A negative duration (no steady clock gives one) counts as zero.
    void observe(std::chrono::nanoseconds duration) noexcept;

    /// The buckets never contradict each other or `count`; `sum` may be an observation ahead or behind.
    snapshot read() const noexcept;

  private:
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> buckets_{};  // not cumulative; the last one is +Inf
    std::atomic<std::uint64_t> sum_nanoseconds_{0};
};

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
