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
    counter_by_status upstream_responses;                      ///< the store's own answers to data
    alignas(64) duration_histogram upstream_request_duration;  ///< from sending to the whole answer, or to the failure
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
    void rest(const std::function<void(upstream_error_reason, std::uint64_t)>& tell,
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

// --- The circuit breaker of a backend, shared by all workers.

enum class backend_state : std::uint8_t {
    half_open,   ///< accepts connections again: one trial request shows whether it answers
    healthy,     ///< answers its requests
    overloaded,  ///< answers every request with 503: it is shutting down, or has too much to do
    ejected,     ///< gives no answers
};

/// Keeps requests from a failing backend. A backend that fails is ejected for a second. Then a probe shows whether it
/// accepts connections, and one trial request whether it answers. Each failed probe or trial doubles the pause, up to
/// half a minute. After a good trial the backend's share grows for ten seconds, because a store that has just started
/// must fill its caches. Threads: any. An answer of a healthy backend costs two reads of atomics.
class circuit_breaker {
  public:
    using clock = monotonic_clock;

    static constexpr std::chrono::seconds pause_min{1};
    static constexpr std::chrono::seconds pause_max{30};
    static constexpr std::chrono::seconds slow_start{10};
    /// Fewer 503 answers in a row are no sign of overload: some stores spread their load with single ones.
    static constexpr unsigned overloaded_max = 5;

  private:
    struct times {
        clock::time_point ejected_since{};
        clock::time_point changed_at{};  // earlier requests say nothing about the state
        clock::time_point busy_until{};  // a probe or trial is running, until then at most
        std::chrono::seconds pause = pause_min;
    };

    std::atomic<backend_state> state_{backend_state::healthy};  // written under the lock of times_, like the next two
    std::atomic<clock::rep> due_{0};
    std::atomic<clock::rep> healthy_since_{clock::time_point::min().time_since_epoch().count()};
    std::atomic<unsigned> overloaded_{0};  // 503 answers in a row
    guarded<times> times_;

  public:
    [[nodiscard]] backend_state state() const noexcept { return state_.load(std::memory_order_relaxed); }
    /// Whether it answers requests, even with 503.
    [[nodiscard]] bool is_up() const noexcept {
        const backend_state is = state();
        return is == backend_state::healthy || is == backend_state::overloaded;
    }

    /// Its part of a healthy backend's requests, 0 to 1.
    [[nodiscard]] double share(clock::time_point now) const noexcept;

    /// When the next try is due, unless it is healthy.
    [[nodiscard]] clock::time_point due() const noexcept;

    /// Whether the caller must probe now whether the backend accepts connections. It then calls failed() or accepts().
    /// No other caller probes meanwhile.
    /// @param until when the probe counts as abandoned and another caller may probe.
    bool take_probe(clock::time_point now, clock::time_point until);
    void accepts(clock::time_point now);

    [[nodiscard]] bool has_trial(clock::time_point now);
    /// Makes the caller's request the trial request, if there is none yet. @return whether it is
    bool take_trial(clock::time_point now, clock::time_point until);

    /// Reports a request or probe without an answer.
    /// @param began when it was sent. @return whether this has ejected the backend.
    bool failed(clock::time_point began, clock::time_point now);

    /// Reports an answer. @return how long the backend was ejected or overloaded, if this ends it.
    std::optional<std::chrono::milliseconds> answered(unsigned status, clock::time_point began, clock::time_point now);

  private:
    void leave_out(times& held, backend_state as, clock::time_point now);
    bool is_overloaded(clock::time_point began, clock::time_point now);
    [[nodiscard]] bool is_for_trial(clock::time_point now) const noexcept;
};

}  // namespace seriesgate
