/// What the limiter tells those who watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "limit/budget.hpp"
#include "limit/rules.hpp"
#include "limit/window.hpp"

namespace seriesgate {

// --- The figures of one budget.

struct budget_pair;

/// One budget in one window.
struct budget_window_figures {
    std::uint64_t series_max = 0;
    std::uint64_t series_current = 0;
    std::uint64_t series_reserved = 0;  ///< room kept for incumbents; the largest number: all that is left
    std::uint64_t series_refused = 0;   ///< distinct, an estimate when they are many; in observe mode: would be refused
    bool refused_is_exact = true;       ///< series_refused is no estimate
};

struct budget_figures {
    budget_name name;
    limit_mode mode = limit_mode::enforce;
    bool overridden = false;  ///< the rules have maxima for this tenant or group
    budget_window_figures hourly;
    budget_window_figures daily;
};

/// Without a name: that takes a while, and is made after the lock has been given back.
budget_figures figures_of(const budget_pair& pair);

class series_limiter;

/// What the windows look like at one moment.
struct window_figures {
    window_span span{};
    std::uint64_t series_max = 0;
    std::uint64_t series_current = 0;
    std::uint64_t series_refused = 0;  ///< distinct, by any budget, an estimate; in observe mode: what the global
                                       ///< limit would have refused
    bool refused_is_exact = true;      ///< series_refused is no estimate
    std::uint64_t samples_refused = 0;
    std::uint64_t series_over_limit = 0;  ///< admitted over the maximum of some budget, within its margin
    std::uint64_t series_cut = 0;         ///< distinct, refused though their histogram had begun; an estimate
    double false_positive_rate = 0;       ///< expected now
    std::size_t filter_bytes = 0;
};

struct limiter_figures {
    limit_mode mode = limit_mode::enforce;
    bool clock_in_doubt = false;  ///< it has leapt by more than an hour, and the hour of before goes on
    window_figures hourly;
    window_figures daily;
    budget_figures global;            ///< of the global budget alone: the windows' refusals are those of all budgets
    std::uint64_t exempt_hourly = 0;  ///< series admitted by exemption, of all tenants
    std::uint64_t exempt_daily = 0;
    std::vector<budget_figures> tenants;
    std::vector<budget_figures> limits;
    std::uint64_t commits = 0;  ///< requests that had new series to settle
};

/// Looks at some budgets at a time, so what is told of one may be a little newer than what is told of another. All are
/// of the same hour and the same rules. Threads: any.
limiter_figures figures_of(const series_limiter& limiter);

/// The same without tenants, limits and exempt series, for who asks often: as quick however many of them there are.
/// Threads: any.
limiter_figures figures_of_windows(const series_limiter& limiter);

// --- The demand of windows that have ended, for who keeps it.

class series_limiter;

/// One budget whose hour has ended, with its day if that ended, too.
struct ended_budget {
    demand_scope scope = demand_scope::global;
    budget_name name;
    std::optional<window_demand> hour;
    std::optional<window_demand> day;
};

/// Fetches what has ended since the last call. Threads: any.
std::vector<ended_budget> take_ended(series_limiter& limiter);

}  // namespace seriesgate
