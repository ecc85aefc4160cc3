/// What budgets had come to when their windows ended.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limit/budget_rules.hpp"
#include "limit/compiled_rules.hpp"

namespace seriesgate {

/// Series that wanted to come in one window: those that were counted, and those that found no room (an estimate when
/// they are many).
struct window_demand {
    std::chrono::sys_seconds start;
    std::uint64_t series = 0;

    friend bool operator==(const window_demand&, const window_demand&) = default;
};

/// Whose demand it is.
enum class demand_scope : std::uint8_t {
    global,
    tenants,  ///< the largest of the tenants that have no override
    tenant,
    limit,  ///< the largest of a limit's groups that have no override; of a limit without groups: its one budget
    group,  ///< of a limit with groups or by tenant
};

/// Takes down what a budget has come to before it begins anew, until somebody fetches it: exact, and of no cost for
/// series, since every budget is touched when a window ends anyway.
///
/// Bounded: of several thousand budgets those with the most demand are kept, at most 2.5 MB. The largest of each kind
/// is found among all. Threads: under the commit lock.
class ended_budgets {
  public:
    /// So many at least are kept, and up to twice as many; further ones are let go when somebody has more demand.
    static constexpr std::size_t kept_min = 1'024;

    struct entry {
        std::shared_ptr<const compiled_rules> rules;
        demand_scope scope = demand_scope::global;
        budget_role role;
        std::string key;
        std::optional<window_demand> hour;
        std::optional<window_demand> day;

        [[nodiscard]] std::uint64_t rank() const noexcept;
    };

    /// The numbers by which a book knows hours and days, and when they began. Some may end before all budgets are told.
    void hour_ends(std::uint64_t number, std::chrono::sys_seconds start) noexcept;
    void day_ends(std::uint64_t number, std::chrono::sys_seconds start) noexcept;

    /// One window by its number, and what a budget has come to in it.
    struct numbered {
        std::uint64_t number = 0;
        std::uint64_t series = 0;
    };
    /// Of a budget that is about to begin anew. Takes nothing down if there is no memory: figures are worth no failure.
    /// @param rules in force; the role is theirs.
    /// @param day if it has ended, too.
    void add(const std::shared_ptr<const compiled_rules>& rules, const budget_role& role, std::string_view key,
             const numbered& hour, const std::optional<numbered>& day) noexcept;

    /// All of them, and begins anew.
    [[nodiscard]] std::vector<entry> take() noexcept;

  private:
    struct beginning {
        std::uint64_t number = 0;  // from 1 on
        std::chrono::sys_seconds start{};
    };
    /// The last ones: more do not end before all budgets are told, but for a clock that leaps.
    using beginnings = std::array<beginning, 8>;
    static constexpr std::size_t largest_max = 512;

    static void note(beginnings& all, const beginning& one) noexcept;
    static std::optional<window_demand> demand_in(const beginnings& all, const numbered& window);
    void add_entry(entry&& made);
    void add_largest(entry&& made);

    beginnings hours_{};
    beginnings days_{};
    std::vector<entry> entries_;
    std::vector<entry> largest_;
    std::uint64_t rank_min_ = 0;  // of what is taken down, once there were too many
};

}  // namespace seriesgate
