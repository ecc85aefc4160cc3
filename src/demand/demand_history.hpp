/// The demand of the last hours and days.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "core/state_stream.hpp"
#include "limit/figures.hpp"
#include "limit/window.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
