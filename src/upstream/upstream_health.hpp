/// Health of a store, shared by all workers: error reasons, metrics, throttled log lines.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "core/synchronization.hpp"
#include "net/async.hpp"

namespace seriesgate {

// --- Why the upstream gave no answer.

enum class upstream_error_reason : std::uint8_t {
    dns,                 ///< 502: the name does not resolve
    connection_refused,  ///< 502: nothing listens there
    connect_timeout,     ///< 502: no answer while connecting
    no_route,            ///< 502: no route to host or network
    connect_failed,      ///< 502: another system error while connecting
    connection_lost,     ///< 502: closed or reset before the end of an answer
    tls,                 ///< 502: the TLS handshake failed
    invalid_answer,      ///< 502: not HTTP, or not forwardable
    timeout,             ///< 504: no complete answer within upstream.timeout
    busy,                ///< 503: no free connection within upstream.timeout: upstream.maxConnections are in use
    unauthorized,        ///< 503: the store answers 401 or 403 to our credentials
    redirected,          ///< 502: the store answers 301, 302, 303, 307 or 308, which the gate does not follow
    count_
};
std::string_view name_of(upstream_error_reason reason) noexcept;

struct upstream_error {
    upstream_error_reason reason;
    std::string text;       ///< one line with the system's text: `connecting to 127.0.0.1:8428: Connection refused`
    std::string backend{};  ///< name of the backend, as in logs and metrics
    /// The store has certainly not worked on the request, so another backend may get it.
    bool untouched = false;
};

upstream_error_reason reason_of_connect(error_code error) noexcept;

// --- Metrics.

/// Counts either an answer or an error for each data request. Threads: any.
struct upstream_metrics {
    counter_by<upstream_error_reason> upstream_errors;
    counter_by_status upstream_responses;  ///< the store's own answers to data
    /// Of each attempt, a marker's too, from its connection slot to the whole answer, or to the failure. Not the wait
    /// for the slot.
    alignas(64) duration_histogram upstream_request_duration;
    counter upstream_sent_bytes;
};

void write(exposition& out, const upstream_metrics& metrics);

/// Throttles the lines about requests without an answer, and about the end of an outage, over all workers. Reports an
/// end only after a beginning. Threads: any. An answer in normal operation costs one read of a flag.
class upstream_health {
  public:
    using clock = monotonic_clock;

    struct outage {
        std::chrono::milliseconds lasted{};
        std::uint64_t requests = 0;
    };

  private:
    struct outage_state {
        clock::time_point since;
        std::uint64_t requests = 0;
        bool is_logged = false;
        throttled_logs<upstream_error_reason> lines{};
    };

    std::atomic<bool> is_failing_{false};  // written under the lock of outage_
    guarded<outage_state> outage_;

  public:
    /// Reports a request without an answer. @return the requests for this reason since its last line, if one is due.
    std::optional<std::uint64_t> failed(upstream_error_reason reason, clock::time_point now = clock::now());

    /// Calls `tell(reason, requests)` for each reason with unreported requests and a line due.
    void rest(const std::function<void(upstream_error_reason, std::uint64_t)>& log,
              clock::time_point now = clock::now());

    /// Reports an answer. @return the outage that it ends, if the log should report that.
    std::optional<outage> answered(clock::time_point now = clock::now());
};

// --- Name resolution.

/// Throttles the lines about a name that does not resolve, over all workers. Reports an end only after a beginning.
/// Threads: any.
class name_health {
  public:
    using clock = monotonic_clock;

    struct news {
        bool resolves = false;
        std::chrono::milliseconds lasted{};  ///< since the first failure
    };

    /// Failed lookups repeat every second; the log has one line in this time.
    static constexpr auto interval = std::chrono::minutes{1};

  private:
    struct state {
        std::string fault;  // empty while it resolves
        clock::time_point since;
        bool is_logged = false;
        throttled_log line{interval};
    };
    guarded<state> state_;

  public:
    /// Reports a lookup. @return what to log, if anything.
    std::optional<news> looked_up(error_code error, clock::time_point now = clock::now());

    /// Why the name does not resolve; empty if it does, or no lookup has finished.
    std::string fault() { return state_.lock()->fault; }
};

}  // namespace seriesgate
