/// Says when budgets will be full, and suggests limits from the demand of past and running windows.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cardinality/demand_history.hpp"
#include "core/state_stream.hpp"
#include "core/synchronization.hpp"
#include "limit/figures.hpp"
#include "limit/rules.hpp"
#include "limit/window.hpp"

namespace seriesgate {

// --- When a budget will be full, by the rate at which it has filled in the last minutes.

/// Remembers each budget's count of some minutes ago: 5 to 10 in the hour, 30 to 60 in the day, less at a window's
/// start. The first two minutes of a window give no rate, because all series return then. Bounded: the gate and the
/// budgets_max largest tenants and groups. Threads: one at a time.
class fill_rates {
  public:
    static constexpr std::size_t budgets_max = 1'000;
    static constexpr auto settling = std::chrono::minutes{2};

    /// Whether note() would store anything; saves computing the figures.
    [[nodiscard]] bool is_due(time_point now, std::chrono::sys_seconds hour, std::chrono::sys_seconds day) const;
    void note(time_point now, const limiter_figures& figures);

    /// Time until the budget is full at the current rate; 0 if it is full.
    /// @param key see demand_key. @param window hourly or daily: active series have no rate. @param of the budget's.
    /// @param figures with the running windows, at `now`.
    /// @return nothing if the window ends before, or the rate is unknown.
    [[nodiscard]] std::optional<std::chrono::seconds> exhausted_in(std::string_view key, refusing_window window,
                                                                   const budget_window_figures& of,
                                                                   const limiter_figures& figures,
                                                                   time_point now) const;

  private:
    struct noted {
        time_point when{};
        bool has_all = false;                             ///< all budgets are in `counts`
        std::map<std::uint64_t, std::uint64_t> counts{};  // by hash of the key, whatever its length
    };
    struct track {
        std::chrono::seconds spacing;
        std::chrono::sys_seconds window{};
        std::optional<noted> older{};
        std::optional<noted> newer{};

        [[nodiscard]] bool is_due(time_point now, std::chrono::sys_seconds start) const;
    };

    static void note_in(track& into, time_point now, const limiter_figures& figures, refusing_window window);

    track hourly_{.spacing = std::chrono::minutes{5}};
    track daily_{.spacing = std::chrono::minutes{30}};
};

// --- Suggestions.

/// For active series a window is an hour, and its demand the most at one time and those refused.
struct window_suggestion {
    std::uint64_t series_max = 0;                        ///< in force; 0: not limited
    std::uint64_t demand = 0;                            ///< so far in the running window
    std::uint64_t peak = 0;                              ///< of the kept windows and the running one
    std::optional<std::uint64_t> typical{};              ///< median of the kept windows with demand
    std::size_t windows = 0;                             ///< number of these windows
    std::optional<std::uint64_t> suggested{};            ///< nothing if there was no demand
    std::optional<std::int64_t> headroom{};              ///< series_max - peak, if limited
    std::optional<std::chrono::seconds> exhausted_in{};  ///< see fill_rates
};

/// For one budget, or for maxima that many share.
struct suggestion {
    demand_scope scope = demand_scope::global;
    budget_name name{};
    limit_mode mode = limit_mode::enforce;
    window_suggestion hourly{};
    window_suggestion daily{};
    std::optional<window_suggestion> active{};  ///< nothing: active series are not counted
    /// The maxima to configure: the suggestion where a limit exists, or in hour and day if there is none. While one
    /// window refuses series, no other is lowered.
    series_maxima to_write{};
};

/// Which budgets a request asks for. A budget must match all conditions that are set.
struct budget_choice {
    std::uint64_t shown_max = std::numeric_limits<std::uint64_t>::max();  ///< of each list
    std::optional<std::string> tenant{};  ///< as in budget_name: its own budget, and its budgets of limits
    std::optional<std::string> limit{};

    [[nodiscard]] bool takes(const budget_name& name) const {
        return (!tenant || (name.has_tenant && name.tenant == *tenant)) && (!limit || name.limit == *limit);
    }
    bool operator==(const budget_choice&) const = default;
};

struct suggestion_list {
    std::vector<suggestion> shown{};
    std::size_t total = 0;  ///< before cutting to shown_max
};

/// For an hour 1.5 times its peak, because a rollout has the old and the new series; for a day, and for active series,
/// 1.25 times. Rounded up to two digits, at least 10.
std::uint64_t suggested_maximum(refusing_window window, std::uint64_t peak);

/// The gate first, then the tenants' shared maxima, then each limit in order; then existing tenants and groups, highest
/// peaks first. The daily number is at least the hourly one.
/// @param rules of the figures.
/// @param now time of the figures.
suggestion_list suggest(const limiter_figures& figures, const limit_rules& rules, const demand_history& history,
                        const fill_rates& rates, time_point now, const budget_choice& choice);

// --- Observed demand, shared by all threads.

/// The demand of ended windows and the fill rates of running ones. Threads: any.
class observed_demand {
    struct noted {
        demand_history history;
        fill_rates rates;
        std::optional<time_point> begun{};  // when a gate starts all series return, as in a window's first minutes
    };
    guarded<noted> noted_{noted{}};

  public:
    /// Fetches ended windows, and the figures when they are due. Call it every second or so, and before save().
    void look(series_limiter& limiter, time_point now);

    [[nodiscard]] suggestion_list suggest(const series_limiter& limiter, time_point now, const budget_choice& choice);

    /// Saves the history: at most 2.5 MB, usually far less.
    void save(state_encoder& out);
    /// Restores it. @return false if damaged; then nothing has changed.
    bool load(state_decoder& in);
};

}  // namespace seriesgate
