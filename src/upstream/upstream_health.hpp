/// Whether a store answers, as all workers see it together.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "core/synchronization.hpp"
#include "net/asio.hpp"

namespace seriesgate {

// --- Why there is no answer of the upstream that could be passed on.

enum class upstream_error_reason : std::uint8_t {
    dns,                 ///< 502: its name does not resolve
    connection_refused,  ///< 502: nobody listens there
    connect_timeout,     ///< 502: nobody answered when we tried to connect
    no_route,            ///< 502: no way to its host or network
    connect_failed,      ///< 502: another error of the system's while connecting
    connection_lost,     ///< 502: connected, but closed or reset before the end of an answer
    tls,                 ///< 502: connected, but TLS did not come about
    invalid_answer,      ///< 502: not HTTP, or nothing that could be passed on
    timeout,             ///< 504: no full answer within upstream.timeout
    busy,                ///< 503: no connection to be had within that: upstream.maxConnections are in use
    unauthorized,        ///< 503: it answers 401 or 403, to credentials of ours
    count_
};
/// The value of the label `reason`.
std::string_view name_of(upstream_error_reason reason) noexcept;

struct upstream_error {
    upstream_error_reason reason;
    std::string text;       ///< one line, with what the system says: `connecting to 127.0.0.1:8428: Connection refused`
    std::string backend{};  ///< the address of the store whose fault it is, as logs and metrics call it
    /// It is certain that the store has not worked on the request, so that it can be sent to another address.
    bool untouched = false;
};

/// What a connect that failed means.
upstream_error_reason reason_of_connect(error_code error) noexcept;

// --- What is counted about the way to the store.

class exposition;

/// Of each request that takes data to the store, either its answer is counted or the error in its place. Threads: any.
struct upstream_metrics {
    counter_by<upstream_error_reason> upstream_errors;
    counter_by_status upstream_responses;                      ///< the store's own answers to data
    alignas(64) duration_histogram upstream_request_duration;  ///< request sent to answer read; failures included
    counter upstream_sent_bytes;                               ///< request bodies sent upstream, compressed
};

/// Its families.
void write(exposition& out, const upstream_metrics& metrics);

/// Tells when a line of the log is due about requests that got no answer, and about the end of that: once, and not once
/// a worker. Of an end is told only if its beginning was.
/// Threads: any. An answer while all is well costs one look at a flag.
class upstream_health {
  public:
    using clock = monotonic_clock;

    /// A time in which requests got no answer.
    struct outage {
        std::chrono::milliseconds lasted{};
        std::uint64_t requests = 0;  ///< that got none
    };

  private:
    struct outage_state {
        clock::time_point since;
        std::uint64_t requests = 0;
        bool told = false;
        std::array<sparse_log, static_cast<std::size_t>(upstream_error_reason::count_)> lines{};
    };

    std::atomic<bool> is_failing_{false};  // changed with `outage_` locked
    guarded<outage_state> outage_;

  public:
    /// A request got no answer.
    /// @return the requests for this reason since the last line about it, if one is due.
    std::optional<std::uint64_t> failed(upstream_error_reason reason, clock::time_point now = clock::now());

    /// Requests for this reason that nobody has been told of, if a line about them is due now.
    std::optional<std::uint64_t> rest(upstream_error_reason reason, clock::time_point now = clock::now());

    /// A request got one.
    /// @return the outage that it ends, if that is to be told of.
    std::optional<outage> answered(clock::time_point now = clock::now());
};

// --- Whether a name resolves, as all workers see it.

/// Tells when a line of the log is due about a name that does not resolve: once, and not once a worker. Of an end is
/// told only if its beginning was. Threads: any.
class name_health {
  public:
    using clock = monotonic_clock;

    /// What there is to say of a lookup.
    struct news {
        bool resolves = false;
        std::chrono::milliseconds lasted{};  ///< since it did not
    };

    /// Lookups are tried every second.
    static constexpr auto interval = std::chrono::minutes{1};

  private:
    struct state {
        std::string fault;  // empty while it resolves
        clock::time_point since;
        bool told = false;
        sparse_log line{interval};
    };
    guarded<state> state_;

  public:
    /// The name has been looked up.
    /// @return what there is to say of it, if anything.
    std::optional<news> looked_up(error_code error, clock::time_point now = clock::now());

    /// Why the name does not resolve; empty if it does, or nobody knows yet.
    std::string fault();
};

}  // namespace seriesgate
