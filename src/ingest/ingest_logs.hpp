/// The throttled log lines of ingestion, shared by all workers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "ingest/ingest_metrics.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"

namespace seriesgate {

/// A request of which series were refused or left out, or would be refused by a limit that only observes.
struct refusing_request {
    const plan& decided;
    planner& planning;
    series_limiter& limiter;
    std::string_view sender, tenant;
};

// --- Throttles.

/// One line in ten seconds for each fault.
using left_out_logs = throttled_logs<series_fault>;

/// Throttles the lines about refusals: in ten seconds one for each limit and tenant, so that one explosion does not
/// hide another, and at most ten in all. One summary line covers the others. Threads: any.
class refusal_log {
  public:
    using clock = monotonic_clock;
    static constexpr auto interval = throttled_log::usual_interval;
    static constexpr std::size_t lines_max = 10;

    struct summary {
        std::uint64_t samples = 0;
        std::uint64_t limits = 0;
    };
    struct due {
        std::uint64_t samples = 0;        ///< of this limit and tenant since their last line; 0: no line
        std::optional<summary> others{};  ///< pairs without a line of their own, since the last summary
    };

    /// Call it regularly, so that refusals after the last line of an explosion are reported too.
    std::optional<summary> rest(clock::time_point now = clock::now());
    /// Adds refused samples. The caller writes the lines that are due.
    due count(std::string_view limit, std::string_view tenant, std::uint64_t samples,
              clock::time_point now = clock::now());

  private:
    struct entry {
        std::uint64_t samples = 0;
        clock::time_point next_line = clock::time_point::min();
        std::uint64_t summary = 0;  // number of the last summary that includes it
    };

    void begin_interval(clock::time_point now);
    void sum_up(entry& of);
    std::optional<summary> take_summary(clock::time_point now);

    std::mutex lock_;
    limit_table<entry> entries_;
    clock::time_point interval_end_ = clock::time_point::min();
    std::size_t lines_ = 0;
    summary rest_;
    std::uint64_t summaries_ = 1;
    clock::time_point next_summary_ = clock::time_point::min();
};

/// Throttles the lines about 2xx answers that do not confirm all samples: one line an interval. Threads: any.
class lost_log {
    throttled_log requests_;
    std::atomic<std::uint64_t> samples_{0};

  public:
    using clock = throttled_log::clock;
    explicit lost_log(clock::duration interval = throttled_log::usual_interval) noexcept : requests_(interval) {}

    struct news {
        std::uint64_t requests = 0;
        std::uint64_t samples = 0;
    };

    /// Adds one request. @return the counts, if a line is due.
    std::optional<news> count(std::uint64_t samples, clock::time_point now = clock::now()) noexcept {
        samples_.fetch_add(samples, std::memory_order_relaxed);
        return with_samples(requests_.count(1, now));
    }
    /// Call it regularly, so that the last events are reported too. @return as count().
    std::optional<news> rest(clock::time_point now = clock::now()) noexcept {
        return with_samples(requests_.rest(now));
    }

  private:
    std::optional<news> with_samples(std::optional<std::uint64_t> requests) noexcept {
        if (!requests) return std::nullopt;
        return news{.requests = *requests, .samples = samples_.exchange(0, std::memory_order_relaxed)};
    }
};

/// One line in ten seconds for each status of an error.
using store_error_logs = throttled_logs<unsigned, 300, 300>;

/// Threads: any.
struct ingest_logs {
    refusal_log refused{};
    refusal_log observed{};  ///< would have been refused, but the limit only observes
    refusal_log beyond{};    ///< exempt series and ignored values over their own limits; other limits then decide
    left_out_logs left_out{};
    store_error_logs store_errors{};
    lost_log unconfirmed{std::chrono::minutes{1}};
    lost_log partly_written{};
    throttled_log query{std::chrono::hours{1}};  ///< dropped query arguments: a lasting misconfiguration
};

// --- Lines.

struct ingest_shared;
struct upstream_config;

void log_refusals(const refusing_request& of, ingest_logs& logs);
void count_refusals(const refusing_request& of, ingest_metrics& metrics);
/// The store and the replicas without bestEffort: the least that one of them confirms is confirmed.
std::string stores_waited_for(const upstream_config& upstream);
void write_unconfirmed(const lost_log::news& news, const upstream_config& upstream);
/// Logs the events that no line has reported yet, where a line is due; otherwise only the first event of a burst would
/// be logged. Call it every second. Threads: any.
void log_rest(ingest_shared& of);

}  // namespace seriesgate
