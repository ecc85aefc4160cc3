/// How fast budgets fill.
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

/// Which of the two running windows.
enum class demand_window : std::uint8_t { hourly, daily };

/// Remembers what budgets counted some minutes ago in the hour, 5 to 10, and in the day, 30 to 60; less after the
/// window's beginning. What a window counts in its first two minutes says nothing of a rate: everything comes back.
/// Bounded: of the gate and the budgets_max largest tenants and groups.
/// Threads: one at a time.
class demand_rates {
  public:
    static constexpr std::size_t budgets_max = 1'000;
    static constexpr auto settling = std::chrono::minutes{2};

    /// Whether note() would remember something: figures are not for nothing.
    [[nodiscard]] bool is_due(time_point now, std::chrono::sys_seconds hour, std::chrono::sys_seconds day) const;
    /// @param figures of now.
    void note(time_point now, const limiter_figures& figures);

    /// A budget in a window that is running.
    struct filling {
        demand_window window = demand_window::hourly;
        window_span span{};
        std::uint64_t series_max = 0;
        std::uint64_t series_current = 0;
    };
    /// When the budget is exhausted at the rate of the last minutes; 0 if it is already.
    /// @param key see demand_key.
    /// @return nothing if it is not before the window ends, or the rate is not known yet.
    [[nodiscard]] std::optional<std::chrono::seconds> exhausted_in(std::string_view key, const filling& of,
                                                                   time_point now) const;

  private:
    struct noted {
        time_point when{};
        bool has_all = false;                           ///< budgets
        std::map<std::uint64_t, std::uint64_t> counts;  // by a hash of the key, however long that is
    };
    /// Of one window.
    struct track {
        std::chrono::seconds spacing;
        std::chrono::sys_seconds window{};
        std::optional<noted> older{};
        std::optional<noted> newer{};

        [[nodiscard]] bool is_due(time_point now, std::chrono::sys_seconds start) const;
    };

    static void note_in(track& into, time_point now, const limiter_figures& figures, demand_window window);

    track hourly_{.spacing = std::chrono::minutes{5}};
    track daily_{.spacing = std::chrono::minutes{30}};
};

}  // namespace seriesgate
