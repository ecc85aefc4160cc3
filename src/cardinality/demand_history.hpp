/// The demand of the last hours and days.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/state_stream.hpp"
#include "limit/budget.hpp"
#include "limit/figures.hpp"
#include "limit/rules.hpp"
#include "limit/window.hpp"

namespace seriesgate {

// --- What a budget's demand is filed under.

/// Of a budget in limiter_figures::tenants or ::limits.
demand_scope scope_of(const budget_name& name);

/// A text that differs when scope or name do.
std::string demand_key(demand_scope scope, const budget_name& name);

/// Whether it stands for a part, a tenant or a group: there may be any number of these. @param key not empty.
bool is_part(std::string_view key);

/// Whether demand_key could have made it, as far as its scope tells.
bool is_demand_key(std::string_view key);

/// Demand of windows that have ended, by budget; bounded, see the constants. A window in which a budget had none is as
/// one in which there was no such budget, or no gate.
/// Threads: one at a time.
class demand_history {
  public:
    static constexpr std::size_t hours_kept = 24;
    static constexpr std::size_t days_kept = 14;
    /// Tenants and groups: those with the highest peaks.
    static constexpr std::size_t parts_max = 1'000;
    /// The gate, the largest tenant, the limits; also of those that a reload has removed.
    static constexpr std::size_t wholes_max = 512;
    /// Budgets with a longer name are left out.
    static constexpr std::size_t key_bytes_max = 2'048;

    /// Of one budget in the windows that are kept.
    struct past {
        std::uint64_t peak = 0;
        std::uint64_t typical = 0;  ///< the median of the windows with demand
        std::size_t windows = 0;    ///< how many those are

        friend bool operator==(const past&, const past&) = default;
    };
    struct pasts {
        past hourly;
        past daily;

        friend bool operator==(const pasts&, const pasts&) = default;
    };

    /// What has ended. A window that was added before keeps the larger number.
    void add(std::span<const ended_budget> ended);
    /// Forgets what is older than the last windows before these, which are running.
    void advance(std::chrono::sys_seconds hour, std::chrono::sys_seconds day);
    /// @param key see demand_key.
    [[nodiscard]] pasts find(std::string_view key) const;
    [[nodiscard]] std::size_t size() const noexcept { return budgets_.size(); }

    /// As bytes: a version, the number of the last hour and of the last day (since 1970), how many budgets, and of each
    /// its key, its hours and its days in the order of their numbers modulo how many are kept.
    void save(state_encoder& out) const;
    /// Takes the place of what is here. @return false, and nothing is changed, if the bytes are damaged.
    bool load(state_decoder& in);

  private:
    using hours_ring = std::array<std::uint64_t, hours_kept>;
    using days_ring = std::array<std::uint64_t, days_kept>;
    struct kept {
        hours_ring hours{};
        days_ring days{};

        [[nodiscard]] std::uint64_t peak() const noexcept;
    };

    template <class Ring>
    std::size_t place_of(std::int64_t window, std::int64_t& newest, Ring kept::*ring);
    void trim(bool parts, std::size_t count_max);

    std::map<std::string, kept, std::less<>> budgets_;
    std::int64_t newest_hour_ = 0;
    std::int64_t newest_day_ = 0;
};

// --- How fast budgets fill.

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
