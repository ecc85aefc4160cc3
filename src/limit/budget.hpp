/// One counted limit in one window.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/distinct_sketch.hpp"
#include "limit/rules.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// Counts the series admitted in a window against a maximum. Budgets remember no series, the admitted set does:
/// so a budget a tenant or label group costs a few counters, not a filter.
///
/// Incumbents: while a reservation stands, newcomers only get what the series of the previous hour that have not come
/// back yet leave: current + reserved < max. Where it is not known how many those are, they get nothing.
///
/// Whole histograms: what completes one needs no room, but all that is admitted stays below max + margin. In the next
/// hour all of it returns, so incumbents find room up to there. What that leaves is for completions: the margin is not
/// had twice, by however many hours, reloads or restarts.
///
/// Threads: under the commit lock.
class budget {
    std::uint64_t max_;         // 0: count only
    std::uint64_t margin_ = 0;  // beyond it, see margin_of
    std::uint64_t current_ = 0;
    std::uint64_t over_ = 0;
    std::uint64_t beyond_ = 0;
    std::uint64_t reserved_ = 0;
    distinct_sketch refused_;

  public:
    /// A reservation of all the room there is.
    static constexpr std::uint64_t all_room = std::numeric_limits<std::uint64_t>::max();

    /// @param series_max see set_max.
    explicit budget(std::uint64_t series_max = 0) : max_(series_max) {}

    [[nodiscard]] bool limits() const noexcept { return max_ != 0; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    /// Series that are counted: more than the maximum if it was lowered, or if histograms were completed.
    [[nodiscard]] std::uint64_t current() const noexcept { return current_ + over_; }
    /// Series that were admitted although there was no room: by a budget that only observes.
    [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_; }
    /// All that were admitted: in the next hour, its incumbents.
    [[nodiscard]] std::uint64_t admitted() const noexcept { return current() + beyond_; }
    /// Distinct series that found no room in this window; an estimate when they are many.
    [[nodiscard]] std::uint64_t refused_series() const { return refused_.estimate(); }
    [[nodiscard]] bool counts_refused_exactly() const noexcept { return refused_.is_exact(); }

    /// Room that is kept for incumbents that have not come back, in series; all_room: all of it.
    [[nodiscard]] std::uint64_t reserved() const noexcept { return reserved_; }

    [[nodiscard]] bool has_room(standing of) const noexcept {
        return fits(of) || (of == standing::incumbent && margin_left() != 0);
    }

    /// Whether one more series that has no room may complete its histogram.
    [[nodiscard]] bool has_margin() const noexcept { return reserved_ < margin_left(); }

    /// So many series would find room; all_room if nothing is limited.
    [[nodiscard]] std::uint64_t room(standing of) const noexcept {
        if (!limits()) return all_room;
        const std::uint64_t left = max_ - std::min(max_, current_);
        return of == standing::incumbent ? std::max(left, margin_left()) : left - std::min(left, reserved_);
    }

    /// @param series_max series in one window; 0 counts without limiting. May be below what has been admitted: then
    ///        only newcomers are refused. If it makes room, that goes to the series beyond first: they are in.
    /// @param margin see margin_of; 0 for a budget that only observes.
    void set_max(std::uint64_t series_max, std::uint64_t margin = 0) noexcept {
        max_ = series_max;
        margin_ = margin;
        commit();
        const std::uint64_t room = limits() ? max_ - std::min(max_, current_) : beyond_;
        const std::uint64_t moved = std::min(room, beyond_);
        current_ += moved;
        beyond_ -= moved;
    }

    /// Counts one admitted series. If it does not fit, it completes a histogram or is an incumbent, within the margin;
    /// or the budget merely observes. One that completes takes no room from the incumbents that have yet to return.
    /// @return whether it was admitted over the limit.
    bool take(standing of, limit_mode mode) noexcept {
        const bool is_within = fits(of);
        const bool is_over = !is_within && mode == limit_mode::enforce;
        assert(!is_over || has_room(of) || has_margin());  // the promise of the product
        ++(is_within ? current_ : is_over ? over_ : beyond_);
        // More can return than were expected (false positives of the previous hour's filter).
        if (of == standing::incumbent && reserved_ > 0 && reserved_ != all_room) --reserved_;
        return is_over;
    }

    void refuse(std::uint64_t fingerprint) { refused_.insert(fingerprint); }

    /// A budget that several gates share: so many have been counted by all of them in this window, and room is kept for
    /// so many incumbents. Counts only grow, in whatever order they are heard.
    void hear(std::uint64_t counted, std::uint64_t awaited) noexcept {
        current_ = std::max(current_, counted);
        reserved_ = awaited;
    }

    /// The same without what room is kept for.
    void hear(std::uint64_t counted) noexcept { current_ = std::max(current_, counted); }

    /// A new window begins.
    void restart() noexcept {  // the maximum stays
        current_ = 0;
        over_ = 0;
        beyond_ = 0;
        reserved_ = 0;
        refused_.clear();
    }

    /// Keeps room for so many series of the previous hour, or all_room; 0 lets a reservation lapse.
    void reserve(std::uint64_t incumbents) noexcept {
        reserved_ = incumbents;
        commit();
    }

    /// Adds what another budget counted; the maximum stays.
    void absorb(const budget& other) {
        current_ += other.current_;
        over_ += other.over_;
        beyond_ += other.beyond_;
        reserved_ += std::min(other.reserved_, all_room - reserved_);
        refused_.merge(other.refused_);
    }

    /// Everything but the maximum, which belongs to the configuration.
    void save(state_encoder& out) const {
        for (const std::uint64_t count : {current_, over_, beyond_, reserved_}) out.number(count);
        refused_.save(out);
    }
    void load(state_decoder& in) {
        for (std::uint64_t* count : {&current_, &over_, &beyond_, &reserved_}) *count = in.number<std::uint64_t>();
        refused_.load(in);
    }

  private:
    /// Within the maximum.
    [[nodiscard]] bool fits(standing of) const noexcept {
        return !limits() || (current_ < max_ && (of == standing::incumbent || reserved_ < max_ - current_));
    }

    /// How many more series there may be at all.
    [[nodiscard]] std::uint64_t margin_left() const noexcept {
        return limits() ? max_ + margin_ - std::min(max_ + margin_, current()) : 0;
    }

    /// There may be more room than before: it goes to the series over the maximum first.
    void commit() noexcept {
        const std::uint64_t left = limits() ? max_ - std::min(max_, current_) : over_;
        const std::uint64_t room = limits() ? left - std::min(left, reserved_) : over_;
        const std::uint64_t moved = std::min(room, over_);
        current_ += moved;
        over_ -= moved;
    }
};

// --- What the rules say about one budget.

enum class budget_kind : std::uint8_t { global, tenant, group };

/// What a budget is for, beside the tenant or group that it is filed under.
struct budget_role {
    budget_kind kind = budget_kind::global;
    bool overflow = false;    ///< shared by the tenants or groups beyond the bound
    std::uint32_t limit = 0;  ///< of a group: index in compiled_rules::limits
};

/// The name of a limit's group, from its key. One that is not of this limit gives empty values for what it lacks.
group_labels group_of(const label_limit& limit, std::string_view key);
/// The name of the budget that the groups of a limit share which have none of their own.
group_labels overflow_group(const label_limit& limit);

/// @param key what the budget is filed under: the tenant's name, or see rule_selections::one::key.
budget_name name_of(const compiled_rules& rules, const budget_role& role, std::string_view key);

struct ruling {
    series_maxima maxima;
    limit_mode mode = limit_mode::enforce;
};

/// That for overflow is found under the name `__overflow__`, as an override may be.
ruling ruling_of(const compiled_rules& rules, const budget_role& role, std::string_view key);

/// Whether the tenant or group has maxima of its own, and so a budget whatever their number.
bool is_overridden(const compiled_rules& rules, const budget_role& role, std::string_view key);

/// A group that is really called `__overflow__` belongs where it says.
bool is_named_overflow(const label_limit& limit, std::string_view key);

/// Whether the budgets of one limit mean the same under the other.
bool same_groups(const label_limit& one, const label_limit& other);

/// By which rules series come to the budgets of one kind, as numbers that differ when the rules do; the same in every
/// process. Never 0.
struct limit_budgets_rules {
    std::uint64_t matching;  ///< which series
    std::uint64_t sharing;   ///< which of them share the overflow budget
};

/// Of all kinds: the global budget (what is exempt from it), the tenants, then each limit.
std::vector<limit_budgets_rules> limit_budgets_rules_of(const compiled_rules& rules);

// --- What budgets had come to when their windows ended.

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
