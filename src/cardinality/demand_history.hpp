/// The demand of past hours and days by budget.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/state_stream.hpp"
#include "limit/budget.hpp"
#include "limit/figures.hpp"
#include "limit/rules.hpp"
#include "limit/window.hpp"

namespace seriesgate {

// --- Keys of budgets.

/// The scope of a budget in limiter_figures::tenants or ::limits.
demand_scope scope_of(const budget_name& name);

/// A text that identifies scope and name.
std::string demand_key(demand_scope scope, const budget_name& name);

/// Whether the key is of a tenant or group; there may be any number of them. @param key not empty.
bool is_part(std::string_view key);

/// Whether demand_key can have made the key, judging by its scope.
bool is_demand_key(std::string_view key);

/// Demand of ended windows by budget; bounded. A window without demand equals one without the budget or the gate.
/// Threads: one at a time.
class demand_history {
  public:
    static constexpr std::size_t hours_kept = 24;
    static constexpr std::size_t days_kept = 14;
    /// Tenants and groups; those with the highest peaks stay.
    static constexpr std::size_t parts_max = 1'000;
    /// The gate, the largest tenant, and the limits, including removed ones.
    static constexpr std::size_t wholes_max = 512;
    /// Budgets with longer keys are left out.
    static constexpr std::size_t key_bytes_max = 2'048;

    struct past {
        std::uint64_t peak = 0;
        std::uint64_t typical = 0;  ///< median of the windows with demand
        std::size_t windows = 0;    ///< number of these windows

        friend bool operator==(const past&, const past&) = default;
    };
    struct pasts {
        past hourly;
        past daily;
        past active;  ///< by hours

        friend bool operator==(const pasts&, const pasts&) = default;
    };

    /// Adds ended windows. A window added twice keeps the larger number.
    void add(std::span<const ended_budget> ended);
    /// Forgets windows that are too old, given the running hour and day.
    void advance(std::chrono::sys_seconds hour, std::chrono::sys_seconds day);
    /// @param key see demand_key.
    [[nodiscard]] pasts find(std::string_view key) const;
    [[nodiscard]] std::size_t size() const noexcept { return budgets_.size(); }

    /// Writes: a version, the numbers of the last hour and day (since 1970), the number of budgets. Then each budget's
    /// key, hours and days, ordered by window number modulo the ring's size; in version 2 also the hours of active
    /// series. Without active series it writes version 1, which older gates read.
    void save(state_encoder& out) const;
    /// Replaces the content. @return false if the bytes are damaged; then nothing has changed.
    bool load(state_decoder& in);

  private:
    using hours_ring = std::array<std::uint64_t, hours_kept>;
    using days_ring = std::array<std::uint64_t, days_kept>;
    struct kept {
        hours_ring hours{};
        days_ring days{};
        hours_ring active{};

        [[nodiscard]] std::uint64_t peak() const noexcept;
    };

    template <class Ring>
    std::size_t slot_of(std::int64_t window, std::int64_t& newest, std::initializer_list<Ring kept::*> rings);
    std::size_t slot_of_hour(std::int64_t hour);
    [[nodiscard]] bool has_active() const noexcept;
    void trim(bool parts, std::size_t count_max);

    std::map<std::string, kept, std::less<>> budgets_;
    std::int64_t newest_hour_ = 0;
    std::int64_t newest_day_ = 0;
};

}  // namespace seriesgate
