/// The decision about every series: known, refused lately, or a commit against all budgets.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/fair_mutex.hpp"
#include "core/published.hpp"
#include "core/state_stream.hpp"
#include "filter/admitted_set.hpp"
#include "limit/budget_book.hpp"
#include "limit/day_set.hpp"
#include "limit/limits.hpp"
#include "limit/refused_cache.hpp"
#include "limit/window.hpp"
#include "series/histogram_family.hpp"

namespace seriesgate {

/// Shows the labels of a request's entries again; asked only about entries that may be new.
class label_source {
  public:
    /// @return valid until the next call.
    virtual std::span<const label_view> labels(std::size_t entry) = 0;
    /// The histogram of a series with these labels, as labels() has just shown them; asked only if histograms are to be
    /// kept whole.
    virtual histogram_family family(std::span<const label_view> labels) = 0;

  protected:
    ~label_source() = default;
};

/// Where a request comes from and what its series look like.
struct request_origin {
    std::string_view tenant{};
    label_source* labels = nullptr;  ///< none: no series has labels
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
    rejected_hourly,  ///< as refused_hourly, and the sender is to be told so
    rejected_daily,
    refused_unknown,  ///< a stale marker or exemplar of a series that nobody admitted
};

/// Whether the sender is to be told, see limit_answer.
constexpr bool is_rejected(verdict of) noexcept {
    return of == verdict::rejected_hourly || of == verdict::rejected_daily;
}

/// Buffers of one caller, reused from request to request.
struct limiter_scratch {
    std::vector<std::uint32_t> pending;      // may be new: for the commit
    std::vector<std::uint32_t> followers;    // stale markers and exemplars only
    rule_selections selections;              // of pending, then of followers
    std::vector<histogram_family> families;  // of pending, while histograms are kept whole
    std::vector<budget_pair*> budgets;

    /// Between two requests: gives the memory of a giant back, and forgets what it has been shown.
    void shrink();
};

/// What the windows look like at one moment.
struct window_figures {
    window_span span{};
    std::uint64_t series_max = 0;
    std::uint64_t series_current = 0;
    std::uint64_t series_refused = 0;  ///< distinct, by any budget, an estimate; in observe mode: what the global
                                       ///< limit would have refused
    std::uint64_t samples_refused = 0;
    std::uint64_t series_over_limit = 0;  ///< admitted without room in some budget, to complete a histogram
    double false_positive_rate = 0;       ///< expected now
    std::size_t filter_bytes = 0;
};

/// One budget in one window.
struct budget_window_figures {
    std::uint64_t series_max = 0;
    std::uint64_t series_current = 0;
    std::uint64_t series_refused = 0;  ///< distinct, an estimate when they are many; in observe mode: would be refused
};

struct budget_figures {
    budget_name name;
    limit_mode mode = limit_mode::enforce;
    budget_window_figures hourly;
    budget_window_figures daily;
};

struct limiter_figures {
    limit_mode mode = limit_mode::enforce;
    bool clock_in_doubt = false;  ///< it has leapt by more than an hour, and the hour of before goes on
    window_figures hourly;
    window_figures daily;
    std::uint64_t exempt_hourly = 0;  ///< series admitted by exemption, in no budget
    std::uint64_t exempt_daily = 0;
    std::vector<budget_figures> tenants;
    std::vector<budget_figures> limits;
    std::uint64_t commits = 0;  ///< times the commit lock was taken for a request
};

/// A budget without room for a series.
struct spent_budget {
    budget_figures figures;
    refusing_window window = refusing_window::hourly;
};

/// A clock that leaps by more than an hour is taken for wrong for so long: if it comes back, nothing has happened.
inline constexpr auto clock_doubt = std::chrono::minutes{5};

/// Admits series into the current hour and day.
///
/// One admitted set per window, many budgets: membership is asked of the hour's set alone, budgets are counters that
/// are looked at only when a series is new. A series in the hour's set is in the day's set too.
///
/// Exact: what is new is decided and counted under one lock, so no budget is exceeded by a race, nothing is counted
/// twice, and a refusal consumes nothing in any budget. (A false positive of the filter lets a new series pass
/// uncounted; limit_rules::false_positive_rate bounds how many, however fast they come: a set that is full gets more
/// memory first.) limit_rules::whole_histograms makes one exception: a histogram that has begun is completed, see
/// admit().
///
/// The lock is given in turn, and whoever has much to do under it (a long request, a save, figures, a new hour) gives
/// it back after a fraction of a millisecond's work.
///
/// Time: `now` is passed in. Windows follow it; a step back to at most an hour before the running hour stays in that
/// hour, so a budget cannot be spent twice by a clock correction. A larger one, or one beyond the next hour, is
/// believed when it has lasted for clock_doubt; then it leads to an hour that starts afresh.
///
/// Threads: decide() and figures() any; maintain() one (allocates, so it belongs to no request).
class series_limiter {
  public:
    /// @param key of this installation, for the tables by tenant and group.
    series_limiter(const limit_rules& rules, time_point now, const hash_key& key = hash_key::known_to_all());

    /// Decides about all entries of one request, in order.
    /// Known and lately refused series: no lock, no allocation, one cache line each. Throws std::bad_alloc if there is
    /// no memory for what is new; then some of it may have been admitted.
    /// @param verdicts as many as `offered`.
    /// @return false if the request asks for more than rule_work_max or selection_bytes_max: then nothing has been
    /// decided or counted. (Unless other rules ask for more, which have come when part of it was admitted.)
    bool decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                limiter_scratch& scratch, const request_origin& origin = {});

    /// Why a series that was refused would be refused now: the budgets without room for it, those of the hour first.
    std::vector<spent_budget> explain(const offered_series& series, std::span<const label_view> labels,
                                      std::string_view tenant);

    /// Takes other limits. Counts and admitted sets are kept, see budget_book::reconfigure; a limit lowered below its
    /// count refuses newcomers and keeps what is known. A new false-positive rate holds from the next window on.
    void reconfigure(const limit_rules& settings);

    /// Does ahead of time what a request must not wait for: memory for growth and for the next windows, release of
    /// what has ended. Rolls over too when no request does. Call it every few tens of milliseconds.
    void maintain(time_point now);

    [[nodiscard]] limiter_figures figures() const;
    /// See limiter_figures::clock_in_doubt. Threads: any.
    [[nodiscard]] bool clock_in_doubt() const noexcept { return windows_.read()->leap.has_value(); }

    /// Writes everything that a restart must not forget: sets, budgets, sketches, reservations. Requests go on
    /// meanwhile; the result is the state of one moment, after the filters have been copied.
    /// @return false if the sink failed, or if a window ended meanwhile: try again then.
    /// Threads: one at a time.
    bool save(state_sink& sink);

    /// Takes over what save() wrote, then follows the clock: an hour that has ended since becomes the previous one, and
    /// what is older is forgotten. For a limiter that has decided nothing yet.
    /// @return false if it makes no sense or is not intact; then nothing has changed.
    bool restore(state_source& source, time_point now);

    /// Changes whenever something happens that a snapshot would show. Threads: any.
    [[nodiscard]] std::uint64_t revision() const noexcept { return revision_.load(std::memory_order_relaxed); }

  private:
    /// The sets of this moment; immutable but for the filters' bits, swapped whole.
    struct windows {
        window_span hour_span;
        window_span day_span;
        std::shared_ptr<admitted_set> hour;
        std::shared_ptr<day_set> day;
        /// Sets of the hour before, null if it was not observed. The day's is the current one unless midnight came
        /// between.
        std::shared_ptr<const admitted_set> previous_hour;
        std::shared_ptr<const day_set> previous_day;
        /// Of this moment, for evaluating selectors without the lock.
        std::shared_ptr<const compiled_rules> rules;
        /// While before this, incumbents have room reserved.
        std::chrono::sys_seconds grace_end;
        /// Where the clock has leapt to, if that is not believed yet.
        std::optional<time_point> leap{};

        [[nodiscard]] bool in_hour(time_point now) const noexcept;
        /// Whether `now` is neither in the hour nor in the next.
        [[nodiscard]] bool is_leap(time_point now) const noexcept;
        /// Whether `now` can be decided with these sets, or something has to be rolled over first.
        [[nodiscard]] bool cover(time_point now) const noexcept;
        [[nodiscard]] bool in_grace() const noexcept { return grace_end > hour_span.start; }
        /// Whether there is room reserved for the series. @param in_day whether the day's set has it.
        [[nodiscard]] bool is_incumbent(std::uint64_t fingerprint, bool in_day) const noexcept;
        [[nodiscard]] bool knows(std::uint64_t fingerprint) const noexcept;
    };

    /// What was refused in a window, by whichever budget.
    struct refusals {
        distinct_sketch series;                 // under the commit lock
        std::atomic<std::uint64_t> samples{0};  // by the lock-free path too

        void clear() noexcept {
            series.clear();
            samples.store(0, std::memory_order_relaxed);
        }
    };

    /// What is counted in the running hour and day. Under the commit lock, but for the refused samples.
    struct ledger {
        budget_book book;
        refusals hourly;
        refusals daily;
        std::uint64_t hourly_over_limit = 0;  // window_figures::series_over_limit
        std::uint64_t daily_over_limit = 0;
    };

    [[nodiscard]] published<windows>::reader read_windows(time_point now);
    /// Samples of series that were refused lately.
    struct recalled_samples {
        std::uint64_t hourly = 0;
        std::uint64_t daily = 0;
    };
    recalled_samples recall(std::span<const offered_series> offered, std::span<verdict> verdicts,
                            std::vector<std::uint32_t>& pending) const;
    void follow(std::span<const offered_series> offered, std::span<verdict> verdicts, limiter_scratch& scratch,
                const request_origin& origin) const;

    // commit.cpp
    enum class piece_end : std::uint8_t { finished, not_finished, other_rules, sets_full };
    struct commit_work;
    bool commit(std::span<const offered_series> offered, std::span<verdict> verdicts, limiter_scratch& scratch,
                const request_origin& origin);
    piece_end commit_piece(commit_work& work);
    std::optional<verdict> admit(const windows& current, const offered_series& series, const histogram_family& family,
                                 tenant_of_request& tenant, const rule_selections::one& selection,
                                 std::vector<budget_pair*>& budgets);
    void remember(const windows& current, std::uint64_t key, bool in_hour, bool in_day);
    verdict refuse(const offered_series& series, refusing_window window, bool rejected);
    void catch_up() const;
    void record(std::uint64_t key, bool in_hour, bool in_day);

    // figures.cpp
    [[nodiscard]] std::vector<spent_budget> explain_now(const offered_series& series, std::string_view tenant,
                                                        const rule_selections::one& selection);
    [[nodiscard]] limiter_figures figures_of_windows() const;

    // windows.cpp
    void bound_sets(const windows& current, const compiled_rules& rules) const;
    void advance(time_point now);
    bool try_advance(time_point now);
    void believe_leap(time_point now);
    void forget_leap();
    void roll_over(windows& next, time_point now);
    void prepare_spares(time_point now);
    void make_room();
    void grow(admitted_set& set);
    [[nodiscard]] std::unique_ptr<admitted_set> make_set(std::uint64_t series_count, std::uint64_t capacity_max) const;

    const hash_key key_;
    std::atomic<double> false_positive_rate_;
    std::atomic<std::chrono::seconds> incumbent_grace_;
    refused_cache refused_;

    mutable fair_mutex commit_lock_;
    // Guarded by the commit lock.
    mutable ledger counts_;                    // telling budgets what has happened changes nothing that can be seen
    std::unique_ptr<admitted_set> next_hour_;  // empty sets, waiting for their window
    std::unique_ptr<admitted_set> next_day_;
    std::atomic<std::uint64_t> commits_{0};
    std::atomic<std::uint64_t> revision_{0};

    /// What is admitted while the filters are being copied, since the copy may lack it.
    struct admitted_meanwhile {
        std::uint64_t key;  // a series' fingerprint, or see histogram_keys.hpp
        bool in_hour;
        bool in_day;
    };
    bool recording_ = false;
    std::vector<admitted_meanwhile> recorded_;
    bool begin_saving_counts(const windows& copied, std::vector<admitted_meanwhile>& recorded, state_encoder& out);

    /// Makes segments: one at a time, the others wait for it. Taken before the commit lock.
    std::mutex growth_lock_;

    published<windows> windows_;
};

}  // namespace seriesgate
