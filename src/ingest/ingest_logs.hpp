/// What ingestion says in the log now and then, whichever worker comes upon it.
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
#include "http/route_table.hpp"
#include "ingest/ingest_metrics.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "upstream/store_access.hpp"

namespace seriesgate {

// --- Series entries that break a rule of remote write: left out of their request, so that the others are stored.

/// When the log says what was left out: a line in ten seconds for each fault. Threads: any.
class left_out_log {
    std::array<sparse_log, static_cast<std::size_t>(series_fault::count_)> logs_{};

  public:
    /// @return the series since the last line about this fault, if a line is due now: the caller then writes it.
    std::optional<std::uint64_t> count(series_fault fault, std::uint64_t series) noexcept;
    /// Lines about series that no line has counted, where they are due. Call it every second.
    void log_rest();
};

/// Whose request it is.
struct left_out_request {
    const plan& decided;
    planner& planning;  ///< of the plan
    std::string_view sender, tenant;
};

void count_left_out(const plan& decided, ingest_metrics& metrics);
void log_left_out(const left_out_request& of, left_out_log& log);

/// `left out 1 series (1 sample)`
std::string left_out_summary(const plan_counts& decided);

/// For the sender: the summary, and for each fault how many series have it and the first of them, by metric and label.
/// Empty if nothing was left out.
std::string left_out_text(const plan& decided, planner& planning);

// --- When to say that the store does not confirm what it was sent, or not all of it.

/// Remote write 2 that was answered with success though samples of it are not known to be stored: a line in each
/// interval for as long as it lasts, and one about the last of them. Threads: any.
class lost_log {
    sparse_log requests_;
    std::atomic<std::uint64_t> samples_{0};

  public:
    using clock = sparse_log::clock;
    explicit lost_log(clock::duration interval = sparse_log::usual_interval) noexcept : requests_(interval) {}

    /// Since the line before.
    struct news {
        std::uint64_t requests = 0;
        std::uint64_t samples = 0;
    };

    /// One more request. @return what to say, if a line is due.
    std::optional<news> count(std::uint64_t samples, clock::time_point now = clock::now()) noexcept {
        samples_.fetch_add(samples, std::memory_order_relaxed);
        return with_samples(requests_.count(1, now));
    }
    /// For who looks every now and then. @return as count().
    std::optional<news> rest(clock::time_point now = clock::now()) noexcept {
        return with_samples(requests_.rest(now));
    }

  private:
    std::optional<news> with_samples(std::optional<std::uint64_t> requests) noexcept {
        if (!requests) return std::nullopt;
        return news{.requests = *requests, .samples = samples_.exchange(0, std::memory_order_relaxed)};
    }
};

// --- What the store does not take, in the log.

/// At most one line in ten seconds for each status. Threads: any.
class store_error_log {
    static constexpr unsigned status_min = 300;
    static constexpr unsigned status_max = 599;
    std::array<sparse_log, status_max - status_min + 1> logs_{};

  public:
    /// @return the requests since the last line about this status, if a line is due now: the caller then writes it.
    /// Nothing for a success.
    std::optional<std::uint64_t> count(unsigned status,
                                       sparse_log::clock::time_point now = sparse_log::clock::now()) noexcept;

    /// Requests that nobody has been told of, one status after the other, where a line about them is due now.
    template <class Tell>
    void rest(Tell tell, sparse_log::clock::time_point now = sparse_log::clock::now()) {
        for (unsigned status = status_min; status <= status_max; ++status)
            if (const auto requests = logs_[status - status_min].rest(now)) tell(status, *requests);
    }
};

/// What a line shows of a store's answer, cut.
struct store_words {
    std::string text;  ///< its first line, unless it is compressed
    std::string retry_after;
};

/// A store may repeat what it was asked with: our credentials and the arguments of its backends' queries are left out.
store_words said_by_store(const reply& answer, const store_access& store);

/// What senders do with what is answered so: `retry`, or `drop`, and the data is lost.
std::string_view senders_then(unsigned status) noexcept;

/// The fields of the line: how many, and one of them as an example. They point at what is passed.
/// @param status of the store's answer. @param said see said_by_store().
/// @param sender its address; may be empty. @param tenant as the sender named it; may be empty.
std::array<log::field, 7> describe_store_error(unsigned status, const store_words& said, std::uint64_t requests,
                                               std::string_view sender, std::string_view tenant);

// --- When the log says which limits refuse, and how much.

/// At most one line in ten seconds for each limit and tenant, so that one explosion does not hide another, and at most
/// ten in all. What finds no line is summed up in one more. Threads: any.
class refusal_log {
  public:
    using clock = monotonic_clock;
    static constexpr auto interval = sparse_log::usual_interval;
    static constexpr std::size_t lines_max = 10;

    struct summary {
        std::uint64_t samples = 0;
        std::uint64_t limits = 0;  ///< pairs of a limit and a tenant
    };
    /// What is to be said now.
    struct due {
        std::uint64_t samples = 0;  ///< of the limit and tenant that were passed, since their last line; 0: no line
        std::optional<summary> others{};  ///< of those that found no line, since the last summary
    };

    /// For who looks every now and then, so that what was refused after the last line of an explosion is told, too.
    std::optional<summary> rest(clock::time_point now = clock::now());
    /// Adds what was refused, and says what is due: the caller then writes it.
    due count(std::string_view limit, std::string_view tenant, std::uint64_t samples,
              clock::time_point now = clock::now());

  private:
    struct entry {
        std::uint64_t samples = 0;  // that nothing has been said of
        clock::time_point next_line = clock::time_point::min();
        std::uint64_t summary = 0;  // the last one that it is part of
    };

    void begin_interval(clock::time_point now);
    void sum_up(entry& of);
    std::optional<summary> take_summary(clock::time_point now);

    std::mutex lock_;
    limit_table<entry> entries_;
    clock::time_point interval_end_ = clock::time_point::min();
    std::size_t lines_ = 0;  // in this interval
    summary rest_;
    std::uint64_t summaries_ = 1;
    clock::time_point next_summary_ = clock::time_point::min();
};

/// Threads: any.
struct ingest_logs {
    refusal_log refused{};
    refusal_log observed{};  ///< what would be refused
    refusal_log beyond{};    ///< what limits of the gate's own have no room for, and is decided as others are
    left_out_log left_out{};
    store_error_log store_errors{};
    lost_log unconfirmed{std::chrono::minutes{1}};  ///< the store does not say what it has written
    lost_log partly_written{};                      ///< less than it was sent
    sparse_log query{std::chrono::hours{1}};        ///< arguments left out: somebody's mistake, until somebody mends it
};

}  // namespace seriesgate
