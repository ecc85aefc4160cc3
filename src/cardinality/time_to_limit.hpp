/// When a budget will be full, by the rate at which it has filled in the last minutes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "limit/figures.hpp"
#include "limit/window.hpp"

namespace seriesgate {

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
        bool has_all = false;                           ///< all budgets are in `counts`
        std::map<std::uint64_t, std::uint64_t> counts;  // by hash of the key, whatever its length
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

}  // namespace seriesgate
