/// What limits should be, going by what was asked for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cardinality/demand_history.hpp"
#include "core/state_stream.hpp"
#include "core/synchronization.hpp"
#include "limit/figures.hpp"
#include "limit/rules.hpp"
#include "limit/window.hpp"

namespace seriesgate {

struct window_suggestion {
    std::uint64_t series_max = 0;              ///< in force; 0: not limited
    std::uint64_t demand = 0;                  ///< so far in the window that is running
    std::uint64_t peak = 0;                    ///< of the windows that are kept and of the one that is running
    std::optional<std::uint64_t> typical{};    ///< the median of the windows that are kept and had demand
    std::size_t windows = 0;                   ///< how many those are
    std::optional<std::uint64_t> suggested{};  ///< nothing if there was no demand
    std::optional<std::int64_t> headroom{};    ///< series_max - peak, if it is limited
    std::optional<std::chrono::seconds> exhausted_in{};  ///< see demand_rates
};

/// For one budget, or for the maxima that many share.
struct suggestion {
    demand_scope scope = demand_scope::global;
    budget_name name;
    limit_mode mode = limit_mode::enforce;
    window_suggestion hourly;
    window_suggestion daily;
    /// What to write: the suggested number where there is a limit now, or in both windows where there is none.
    series_maxima to_write;
};

/// Which budgets somebody asks for.
struct suggestion_choice {
    std::size_t shown_max = 100;
    std::optional<std::string> tenant{};  ///< as budget_name has it
    std::optional<std::string> limit{};
};

struct suggestion_list {
    std::vector<suggestion> shown;
    std::size_t total = 0;  ///< how many there are
};

/// For an hour one and a half times its peak, for a rollout has the old series and the new ones; for a day one and a
/// quarter. Rounded up to two digits and at least 10.
std::uint64_t suggested_maximum(demand_window window, std::uint64_t peak);

/// First the gate, then what tenants without an override have, then each limit, in their order; behind them tenants and
/// groups that exist now, those with the highest peaks first. The day's number is at least the hour's.
/// @param rules of the figures.
/// @param now at which the figures were made.
suggestion_list suggest(const limiter_figures& figures, const limit_rules& rules, const demand_history& history,
                        const demand_rates& rates, time_point now, const suggestion_choice& choice);

// --- What limits are asked for, as all threads share it.

class series_limiter;

/// The demand of ended windows, and how fast those fill that are running. Threads: any.
class observed_demand {
    struct noted {
        demand_history history;
        demand_rates rates;
    };
    guarded<noted> noted_{noted{}};

  public:
    /// Fetches what has ended, and looks at the figures when it is time to. To be called every second or so, and before
    /// save().
    void look(series_limiter& limiter, time_point now);

    /// See suggest() in suggestions.hpp.
    [[nodiscard]] suggestion_list suggest(const series_limiter& limiter, time_point now,
                                          const suggestion_choice& choice);

    /// The history: what a restart must not forget. At most 2.5 MB, mostly far less.
    void save(state_encoder& out);
    /// Takes it over. @return false, and nothing has changed, if it makes no sense.
    bool load(state_decoder& in);
};

}  // namespace seriesgate
