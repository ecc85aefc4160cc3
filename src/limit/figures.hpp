/// The limiter's figures for status pages and metrics, the demand of ended windows, and the memory of series.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "filter/series_table.hpp"
#include "limit/budget.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"

namespace seriesgate {

// --- One budget.

struct budget_pair;

struct budget_window_figures {
    std::uint64_t series_max = 0;
    std::uint64_t series_current = 0;
    std::uint64_t series_reserved = 0;  ///< room kept for incumbents; the largest number: all room
    std::uint64_t series_refused = 0;   ///< distinct, estimated for large numbers; observing: would be refused
    bool refused_is_exact = true;       ///< series_refused is exact
    bool takes_no_new = false;          ///< of active series: for now, whatever its room: see newly_active()

    /// Whether a new series finds no room. Room kept for incumbents counts as taken.
    [[nodiscard]] bool is_spent() const noexcept {
        return takes_no_new ||
               (series_max != 0 && series_reserved >= series_max - std::min(series_max, series_current));
    }
};

struct budget_figures {
    budget_name name{};
    limit_mode mode = limit_mode::enforce;
    bool overridden = false;  ///< the rules have an override for this tenant or group
    budget_window_figures hourly{};
    budget_window_figures daily{};
    std::optional<budget_window_figures> active{};  ///< nothing: active series are not counted
    std::uint64_t active_peak = 0;                  ///< most active series at one time in the hour
};

class budget_table;

/// Leaves the name empty: names are made without the lock, because they take long.
/// @param in holds the pair.
budget_figures figures_of(const budget_pair& pair, const budget_table& in, minute_number now);

const budget_window_figures& in_window(const budget_figures& of, refusing_window window) noexcept;

class series_limiter;

/// One window over all budgets.
struct window_figures {
    window_span span{};
    std::uint64_t series_max = 0;
    std::uint64_t series_current = 0;
    std::uint64_t series_refused = 0;  ///< distinct, by any budget, estimated; observing: by the global limit
    bool refused_is_exact = true;      ///< series_refused is exact
    std::uint64_t samples_refused = 0;
    std::uint64_t series_over_limit = 0;  ///< admitted over a maximum, within its margin
    std::uint64_t series_cut = 0;         ///< distinct, refused although their histogram had begun; estimated
    double false_positive_rate = 0;       ///< expected at present
    std::size_t filter_bytes = 0;
};

struct limiter_figures {
    limit_mode mode = limit_mode::enforce;
    bool clock_in_doubt = false;  ///< the clock leapt by more than an hour; the old hour continues
    window_figures hourly;
    window_figures daily;
    /// Nothing: active series are not counted. The span is that of the hour, of which the refusals are; the memory is
    /// that of combinations, besides the table's.
    std::optional<window_figures> active{};
    std::chrono::minutes active_window{0};
    budget_figures global;            ///< the global budget alone; the windows' refusals cover all budgets
    std::uint64_t exempt_hourly = 0;  ///< exempt series admitted, over all tenants
    std::uint64_t exempt_daily = 0;
    std::uint64_t exempt_active = 0;
    std::vector<budget_figures> tenants;
    std::vector<budget_figures> limits;
    std::uint64_t commits = 0;  ///< requests with new series to commit
};

/// Whether the figures of a tenant or a group are asked for.
using budget_filter = std::function<bool(const budget_name&)>;

/// Reads the budgets in pieces, so figures may differ by some milliseconds. All are of the same hour and rules.
/// @param takes chooses from tenants and limits; the sums are over all. Threads: any.
limiter_figures figures_of(
    const series_limiter& limiter, const budget_filter& takes = [](const budget_name&) { return true; });

/// The same without tenants, limits and exempt series: takes equally long for any number of budgets. Threads: any.
limiter_figures figures_of_windows(const series_limiter& limiter);

// --- The demand of ended windows.

/// A budget whose hour has ended, and its day if that ended too.
struct ended_budget {
    demand_scope scope = demand_scope::global;
    budget_name name{};
    std::optional<window_demand> hour{};
    std::optional<window_demand> day{};
    std::uint64_t active = 0;  ///< most active series at one time in the hour, and those refused
};

/// Returns the windows that ended since the last call. Threads: any.
std::vector<ended_budget> take_ended(series_limiter& limiter);

// --- How much memory the series take that a gate knows.

struct memory_estimate {
    /// At the global maxima. Histograms that are completed above them come on top.
    struct bound {
        std::uint64_t hour_series = 0;
        std::uint64_t day_series = 0;
        std::uint64_t bytes = 0;
    };
    /// Bytes for a series that all windows have: at rest, and while memory grows.
    std::uint64_t series_bytes_min = 0;
    std::uint64_t series_bytes_max = 0;
    std::optional<bound> at_limits{};  ///< nothing: no global maximum is enforced
};

/// Without the combinations of budgets that active series count in, and without exempt series.
/// A filter takes what blocks_for() says for each window, and up to twice that while it grows. A table takes 20 to 32
/// bytes for each series of any window, see series_table: 27 in leaves, and what is kept for growth.
memory_estimate estimate_memory(const limit_rules& rules, set_kind set);

}  // namespace seriesgate
