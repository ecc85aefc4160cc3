#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The figures the process keeps about itself. The workers share one gate_metrics and write it a few times per request,
/// never per sample, so plain relaxed atomics are enough and no figure is kept per thread.
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

/// Why the gate itself answered a request with an error. The names are the values of the label `reason`.
enum class reject_reason : std::uint8_t {
    malformed,           ///< 400: does not decode
    too_large,           ///< 400: over a bound of `server:` or of the decoder
    unsupported_media,   ///< 415: content type or encoding
    method_not_allowed,  ///< 405
    unknown_path,        ///< 404: not an ingestion request, so neither in requests_total nor in requests_rejected_4xx()
    timeout,             ///< 503: not complete within readTimeout
    overloaded,          ///< 503: over maxInflightBytes
    refused,             ///< rejectStatus: a limit is spent, and its senders are to be told
    untranslated,        ///< 400: the rest is stored, but not what remote write 1 has no words for
    loop,                ///< 508: has been here before
    bad_argument,        ///< 400: of a question to the gate itself
    pages_held,          ///< 503: /stats or /metrics while too many answers are still being read
    count_
};
std::string_view name_of(reject_reason reason) noexcept;

/// Why the upstream gave no answer that could be passed on.
enum class upstream_error_reason : std::uint8_t {
    unreachable,  ///< 502: name, connect
    timeout,      ///< 504: no full answer within upstream.timeout
    broken,       ///< 502: connected, but closed early or answered something that is not HTTP
    count_
};
std::string_view name_of(upstream_error_reason reason) noexcept;

/// The bound at which a connection was given up for another, or turned away.
enum class connection_bound : std::uint8_t {
    total,        ///< server.maxConnections
    per_peer,     ///< server.maxConnectionsPerPeer
    descriptors,  ///< the process has no descriptors left
    count_
};
std::string_view name_of(connection_bound bound) noexcept;

/// What was made of a request that was admitted, wholly or in part.
enum class forward_kind : std::uint8_t {
    unchanged,   ///< nothing refused: the sender's own bytes
    spliced,     ///< some refused: the kept ranges, compressed again
    translated,  ///< what was kept, from remote write 2 to 1
    none,        ///< all refused: the upstream was not contacted
    count_
};
std::string_view name_of(forward_kind kind) noexcept;

/// Every metric of the process but the windows' figures (they belong to the limiter) and process_* (process.hpp).
/// "Samples" are samples and native histograms together, as in /stats; histograms are also counted apart.
struct gate_metrics {
    counter_by_status requests;  ///< ingestion requests answered, by status code
    counter_by<reject_reason> requests_rejected;
    counter_by<forward_kind> requests_forwarded;
    counter unconfirmed_requests;     ///< of remote write 2: the upstream's 2xx did not say what was written
    counter untranslated_histograms;  ///< with custom buckets, which remote write 1 has not
    counter untranslated_series;      ///< entries that a store of remote write 1 would drop in silence
    counter query_arguments_dropped;  ///< of senders' queries, see upstream.forwardQuery
    counter requests_discarded;       ///< accepted and dropped because upstream.url is `discard:`
    counter_by<upstream_error_reason> upstream_errors;

    alignas(64) duration_histogram request_duration;           ///< first byte read to last byte written
    alignas(64) duration_histogram upstream_request_duration;  ///< request sent to answer read; failures included

    alignas(64) counter samples_received;
    counter samples_accepted;  ///< stored + failed + those that the upstream has yet to answer
    counter samples_refused;
    counter samples_stored;   ///< the upstream has confirmed them
    counter samples_failed;   ///< it has not: an error, no answer, or a success that does not say so
    counter unknown_dropped;  ///< stale markers and exemplar-only entries of unknown series, see DESIGN "What admits"
    counter histograms_received;
    counter exemplars_received;
    counter metadata_received;

    alignas(64) counter received_bytes;  ///< request bodies as sent, compressed
    counter decoded_bytes;               ///< the same, decompressed
    counter upstream_sent_bytes;         ///< request bodies sent upstream, compressed

    alignas(64) gauge inflight_requests;
    gauge inflight_bytes;  ///< what maxInflightBytes bounds
    gauge connections;     ///< open, from senders
    counter connections_accepted;
    counter_by<connection_bound> connections_given_up;     ///< closed to make room for others
    counter_by<connection_bound> connections_turned_away;  ///< no room was left for them
    gauge upstream_connections;                            ///< open, pooled ones included

    counter reload_requests;       ///< SIGHUP and POST /-/reload
    counter reloads;               ///< times that the configuration was read for them
    gauge reload_successful;       ///< 1 unless the last reload failed
    gauge reload_success_seconds;  ///< since 1970: when the configuration was last taken over

    counter state_saves;  ///< snapshots written to state.dir
    counter state_save_failures;
    gauge state_bytes;         ///< of the last snapshot
    gauge state_save_seconds;  ///< since 1970: when it was written

    /// Ingestion requests answered, with any status: `requests.total` of /stats.
    std::uint64_t requests_answered() const noexcept { return requests.total(); }
    /// Ingestion requests that the gate itself answered with 4xx: `requests.rejected` of /stats.
    std::uint64_t requests_rejected_4xx() const noexcept;
    /// Requests that the gate answered with 502 or 504: `requests.upstreamErrors` of /stats.
    std::uint64_t upstream_errors_total() const noexcept { return upstream_errors.total(); }
};

}  // namespace seriesgate
