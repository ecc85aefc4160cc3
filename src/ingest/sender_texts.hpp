/// Texts for senders, and throttled log lines of ingestion, shared by all workers.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/config.hpp"
#include "http/route_table.hpp"
#include "ingest/ingest_metrics.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "upstream/request.hpp"
#include "upstream/shared_store.hpp"
#include "upstream/upstream_health.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

class series_limiter;

/// A request of which series were refused or left out, or would be refused by a limit that only observes.
struct refusing_request {
    const plan& decided;
    planner& planning;
    series_limiter& limiter;
    std::string_view sender, tenant;
};

std::string refused_summary(const plan_counts& decided);

/// Text for the sender: the summary first, then each spent limit with an example.
/// @param planning the planner of `decided`.
/// @return an empty text if the sender should not learn of refusals.
std::string refused_text(const plan& decided, std::string_view tenant, planner& planning, series_limiter& limiter);

/// Text for the sender about data that remote write 1 cannot express. Empty if nothing is lost.
std::string untranslated_text(const translation_loss& lost);

// --- Answers of a store.

/// Why the store gave no answer, in one line: `cannot reach the upstream store:8428: connecting to ...: Connection
/// refused`.
std::string unanswered_line(const upstream_error& error, const upstream_config& upstream);

/// A 502, 503 or 504 in place of the store's answer: the sender keeps the data and retries.
/// @param line from unanswered_line().
reply unanswered_reply(const upstream_error& error, std::string_view line);

/// The store's answer for the sender, without `X-Seriesgate-` headers. An error may repeat what the store was sent. So
/// our credentials and the URL's query arguments are removed from it, and Location headers if the URL has query
/// arguments. A compressed error loses its body if the store has secrets of ours; the gate does not ask for
/// compression.
/// @param tenant_header name of the header.
reply passed_on(upstream_answer answer, std::string_view tenant_header, const store_access& from);

// --- Left-out series: entries that break a rule of remote write.

/// One line in ten seconds for each fault.
using left_out_logs = throttled_logs<series_fault>;

void count_left_out(const plan& decided, ingest_metrics& metrics);
void log_left_out(const refusing_request& of, left_out_logs& log);

std::string left_out_summary(const plan_counts& decided);

/// Text for the sender: the summary, and for each fault the series count and the first series (metric and label). Empty
/// if nothing was left out.
std::string left_out_text(const plan& decided, planner& planning);

// --- Unconfirmed samples: a remote write 2 success that does not confirm all of them.

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

// --- Errors from the store.

/// One line in ten seconds for each status of an error.
using store_error_logs = throttled_logs<unsigned, 300, 300>;

/// The shortened parts of a store's answer that a log line shows.
struct store_words {
    std::string text;  ///< first line of the body; empty if the body is compressed
    std::string retry_after;
};

/// Leaves out our credentials and the query arguments of backend URLs, since a store may repeat them.
store_words said_by_store(const reply& answer, const store_access& store);

/// What senders do after this status: `retry`, or `drop`, which loses the data.
std::string_view senders_then(unsigned status) noexcept;

/// Log fields of an error answer, with one request as an example. They point into the arguments.
/// @param status the store's. @param words from said_by_store().
/// @param sender its address; may be empty. @param tenant as the sender named it; may be empty.
std::array<log::field, 7> describe_store_error(unsigned status, const store_words& words, std::uint64_t requests,
                                               std::string_view sender, std::string_view tenant);

// --- Refusals by limits.

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

}  // namespace seriesgate
