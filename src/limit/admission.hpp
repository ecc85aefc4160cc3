/// The decision about every series: known, refused lately, or a commit against all budgets.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/published.hpp"
#include "filter/admitted_set.hpp"
#include "limit/budget.hpp"
#include "limit/refused_cache.hpp"
#include "limit/window.hpp"

namespace seriesgate {

struct limit_settings {
    std::uint64_t series_hourly_max = 0;  ///< 0: counted, not limited
    std::uint64_t series_daily_max = 0;   ///< 0: counted, not limited
    double false_positive_rate = 1e-4;
    std::chrono::seconds incumbent_grace = std::chrono::minutes{10};
};

/// One series entry of a request.
struct offered_series {
    std::uint64_t fingerprint = 0;
    std::uint32_t samples = 0;  ///< samples and histograms
    bool admits = false;        ///< holds more than stale markers and exemplars
};

enum class verdict : std::uint8_t {
    accepted,
    refused_hourly,   ///< new, and the hour's budget is spent
    refused_daily,    ///< new in the day, and the day's budget is spent
    refused_unknown,  ///< a stale marker or exemplar of a series that nobody admitted
};

/// Buffers of one caller, reused from request to request.
struct admission_scratch {
    std::vector<std::uint32_t> pending;    // may be new: for the commit
    std::vector<std::uint32_t> followers;  // stale markers and exemplars only
};

/// What the windows look like at one moment.
struct window_figures {
    window_span span{};
    std::uint64_t series_max = 0;
    std::uint64_t series_current = 0;
    std::uint64_t series_refused = 0;  ///< distinct, an estimate
    std::uint64_t samples_refused = 0;
    double false_positive_rate = 0;  ///< expected now
    std::size_t filter_bytes = 0;
};

struct admission_figures {
    window_figures hourly;
    window_figures daily;
    std::uint64_t commits = 0;  ///< times the commit lock was taken for a request
};

/// Admits series into the current hour and day.
///
/// One admitted set per window, many budgets: membership is asked of the hour's set alone, budgets are counters that
/// are looked at only when a series is new. A series in the hour's set is in the day's set too.
///
/// Exact: what is new is decided and counted under one lock per request, so no budget is exceeded by a race, nothing
/// is counted twice, and a refusal consumes nothing in any budget. (A false positive of the filter lets a new series
/// pass uncounted; limit_settings::false_positive_rate bounds how many.)
///
/// Time: `now` is passed in. Windows follow it; a step back to at most an hour before the running hour stays in that
/// hour, so a budget cannot be spent twice by a clock correction; a larger one starts afresh in the hour it leads to.
///
/// Threads: decide() and figures() any; maintain() one (allocates, so it belongs to no request).
class admission {
  public:
    admission(const limit_settings& settings, time_point now);

    /// Decides about all entries of one request, in order.
    /// Known and lately refused series: no lock, no allocation, one cache line each.
    /// @param verdicts as many as `offered`.
    void decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                admission_scratch& scratch);

    /// Does ahead of time what a request must not wait for: memory for growth and for the next windows, release of
    /// what has ended. Rolls over too when no request does. Call it every few tens of milliseconds.
    void maintain(time_point now);

    [[nodiscard]] admission_figures figures() const;

  private:
    /// The sets of this moment; immutable but for the filters' bits, swapped whole.
    struct windows {
        window_span hour_span;
        window_span day_span;
        std::shared_ptr<admitted_set> hour;
        std::shared_ptr<admitted_set> day;
        /// Sets of the hour before, null if it was not observed. The day's is the current one unless midnight came
        /// between.
        std::shared_ptr<const admitted_set> previous_hour;
        std::shared_ptr<const admitted_set> previous_day;
        /// While before this, incumbents have room reserved.
        std::chrono::sys_seconds grace_end;

        [[nodiscard]] bool in_hour(time_point now) const noexcept;
        /// Whether `now` can be decided with these sets, or something has to be rolled over first.
        [[nodiscard]] bool cover(time_point now) const noexcept;
        [[nodiscard]] bool in_grace() const noexcept { return grace_end > hour_span.start; }
        [[nodiscard]] bool is_incumbent(std::uint64_t fingerprint) const noexcept;
        [[nodiscard]] bool knows(std::uint64_t fingerprint) const noexcept;
    };

    [[nodiscard]] published<windows>::reader read_windows(time_point now);
    void recall(std::span<const offered_series> offered, std::span<verdict> verdicts,
                std::vector<std::uint32_t>& pending);
    void commit(std::span<const offered_series> offered, std::span<verdict> verdicts,
                std::span<const std::uint32_t> pending);
    void follow(std::span<const offered_series> offered, std::span<verdict> verdicts,
                std::span<const std::uint32_t> followers) const;
    verdict admit(const windows& current, const offered_series& series);
    verdict refuse(const offered_series& series, refusing_window window);

    void advance(time_point now);
    void roll_over(windows& next, time_point now);
    void grow(admitted_set& set);
    void prepare_spare(std::shared_ptr<admitted_set>& spare, const budget& counted, std::uint64_t series_count);
    [[nodiscard]] std::shared_ptr<admitted_set> make_set(const budget& counted, std::uint64_t series_count) const;

    limit_settings settings_;
    refused_cache refused_;

    mutable std::mutex commit_lock_;
    // Guarded by the commit lock, but for the budgets' counts of refused samples.
    budget hourly_;
    budget daily_;
    std::shared_ptr<admitted_set> next_hour_;  // empty sets, waiting for their window
    std::shared_ptr<admitted_set> next_day_;
    std::uint64_t commits_ = 0;

    published<windows> windows_;
};

}  // namespace seriesgate
