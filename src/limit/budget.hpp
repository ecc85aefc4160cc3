/// A budget: the counter of one limit in one window, its identity in the rules, and its final counts.
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

/// Counts the series admitted in one window against a maximum. It remembers no series; the admitted set does. So a
/// budget is a few counters, not a filter.
///
/// Reservation: during the grace, incumbents that have not returned yet keep their room. New series are admitted while
/// current + reserved < max. If the number of incumbents is unknown, all room is reserved.
///
/// Whole histograms: a series that completes a histogram needs no room, but the count stays below max + margin. In the
/// next hour all these series return, so incumbents are admitted up to max + margin too. Completions get only the rest:
/// hours, reloads or restarts never add a second margin. Threads: under the commit lock.
class budget {
    std::uint64_t max_;           // 0: count only
    std::uint64_t margin_ = 0;    // series allowed beyond the maximum, see margin_of
    std::uint64_t current_ = 0;   // within the maximum, unless that was lowered or the shared store counts more
    std::uint64_t over_ = 0;      // admitted without room: incumbents, completions, series that the store has
    std::uint64_t beyond_ = 0;    // admitted without room by an observing budget
    std::uint64_t reserved_ = 0;  // for incumbents, or all_room
    distinct_sketch refused_;

  public:
    static constexpr std::uint64_t all_room = std::numeric_limits<std::uint64_t>::max();

    explicit budget(std::uint64_t series_max = 0) : max_(series_max) {}

    [[nodiscard]] bool limits() const noexcept { return max_ != 0; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    /// Series counted against the maximum; above it after completions, or if the maximum was lowered.
    [[nodiscard]] std::uint64_t current() const noexcept { return current_ + over_; }
    /// Series that an observing budget admitted without room.
    [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_; }
    /// All admitted series: the incumbents of the next hour.
    [[nodiscard]] std::uint64_t admitted() const noexcept { return current() + beyond_; }
    /// Distinct series that found no room in this window; an estimate for large numbers.
    [[nodiscard]] std::uint64_t refused_series() const { return refused_.estimate(); }
    [[nodiscard]] bool counts_refused_exactly() const noexcept { return refused_.is_exact(); }

    /// Series for which room is reserved, or all_room.
    [[nodiscard]] std::uint64_t reserved() const noexcept { return reserved_; }

    [[nodiscard]] bool has_room(standing of) const noexcept {
        return fits(of) || (of == standing::incumbent && margin_left() != 0);
    }

    /// Whether one more series without room may complete its histogram.
    [[nodiscard]] bool has_margin() const noexcept { return reserved_ < margin_left(); }

    /// Series that would find room now; all_room if the budget does not limit.
    [[nodiscard]] std::uint64_t room(standing of) const noexcept {
        if (!limits()) return all_room;
        const std::uint64_t left = max_ - std::min(max_, current_);
        return of == standing::incumbent ? std::max(left, margin_left()) : left - std::min(left, reserved_);
    }

    /// @param series_max series in one window; 0 counts without limiting. Below the current count only new series are
    /// refused. A raised maximum first covers the series in beyond().
    /// @param margin see margin_of; 0 for an observing budget.
    void set_max(std::uint64_t series_max, std::uint64_t margin = 0) noexcept {
        max_ = series_max;
        margin_ = margin;
        absorb_excess();
        const std::uint64_t room = limits() ? max_ - std::min(max_, current_) : beyond_;
        const std::uint64_t moved = std::min(room, beyond_);
        current_ += moved;
        beyond_ -= moved;
    }

    /// Counts one admitted series. Without room it must be an incumbent or complete a histogram, within the margin,
    /// unless the budget only observes. A completion takes no room from incumbents that have not returned yet.
    /// @param is_stored the store has the series already: it needs no room.
    /// @return whether the series was admitted over the limit.
    bool take(standing of, limit_mode mode, [[maybe_unused]] bool is_stored = false) noexcept {
        const bool is_within = fits(of);
        const bool is_over = !is_within && mode == limit_mode::enforce;
        assert(!is_over || is_stored || has_room(of) || has_margin());  // the product's guarantee
        ++(is_within ? current_ : is_over ? over_ : beyond_);
        note_return(of);
        return is_over;
    }

    void refuse(std::uint64_t fingerprint) { refused_.insert(fingerprint); }

    /// Fleet: takes over the shared count of this window and the number of incumbents with reserved room. Counts only
    /// grow, whatever order the answers arrive in.
    void raise_to(std::uint64_t counted, std::uint64_t reserved) noexcept {
        current_ = std::max(current_, counted);
        reserved_ = reserved;
    }

    /// The same without the reservation.
    void raise_to(std::uint64_t counted) noexcept { current_ = std::max(current_, counted); }

    /// Fleet: the shared counts in place of this gate's own. @return whether they differ.
    bool set_shared(std::uint64_t counted, std::uint64_t kept, limit_mode mode) noexcept {
        const std::array before{current_, over_, beyond_, reserved_};
        current_ = limits() && mode == limit_mode::observe ? std::min(counted, max_) : counted;
        beyond_ = counted - current_;
        over_ = 0;
        reserved_ = kept;
        return before != std::array{current_, over_, beyond_, reserved_};
    }

    void restart() noexcept {
        current_ = 0;
        over_ = 0;
        beyond_ = 0;
        reserved_ = 0;
        refused_.clear();
    }

    /// Reserves room for so many series of the previous hour, or all_room; 0 ends the reservation.
    void reserve(std::uint64_t incumbents) noexcept {
        reserved_ = incumbents;
        absorb_excess();
    }

    /// Adds another budget's counts; the maximum stays.
    void absorb(const budget& other) {
        current_ += other.current_;
        over_ += other.over_;
        beyond_ += other.beyond_;
        reserved_ += std::min(other.reserved_, all_room - reserved_);
        refused_.merge(other.refused_);
    }

    /// Saves all but the maximum, which belongs to the configuration.
    void save(state_encoder& out) const {
        for (const std::uint64_t count : {current_, over_, beyond_, reserved_}) out.number(count);
        refused_.save(out);
    }
    void load(state_decoder& in) {
        for (std::uint64_t* count : {&current_, &over_, &beyond_, &reserved_}) *count = in.number<std::uint64_t>();
        refused_.load(in);
    }

  private:
    [[nodiscard]] bool fits(standing of) const noexcept {
        return !limits() || (current_ < max_ && (of == standing::incumbent || reserved_ < max_ - current_));
    }

    /// False positives of the previous hour's filter can make more series return than expected.
    void note_return(standing of) noexcept {
        if (of == standing::incumbent && reserved_ > 0 && reserved_ != all_room) --reserved_;
    }

    /// Series that may still be admitted up to maximum plus margin.
    [[nodiscard]] std::uint64_t margin_left() const noexcept {
        return limits() ? max_ + margin_ - std::min(max_ + margin_, current()) : 0;
    }

    /// After room has grown: moves series from over the maximum to within it.
    void absorb_excess() noexcept {
        const std::uint64_t left = limits() ? max_ - std::min(max_, current_) : over_;
        const std::uint64_t room = limits() ? left - std::min(left, reserved_) : over_;
        const std::uint64_t moved = std::min(room, over_);
        current_ += moved;
        over_ -= moved;
    }
};

// --- The rules of one budget.

enum class budget_kind : std::uint8_t { global, tenant, group };

/// The kind of a budget; with its key (tenant or group) it identifies the budget.
struct budget_role {
    budget_kind kind = budget_kind::global;
    bool overflow = false;    ///< shared by the tenants or groups beyond the maximum number
    std::uint32_t limit = 0;  ///< of a group: index in compiled_rules::limits
};

/// A group's labels and values, from its key. A key that does not fit this limit gives empty values, and no key those
/// of the overflow budget.
group_labels group_of(const label_limit& limit, std::optional<std::string_view> key);

/// @param key the tenant's name, or rule_selections::one::key.
budget_name name_of(const compiled_rules& rules, const budget_role& role, std::string_view key);

struct ruling {
    series_maxima maxima;
    limit_mode mode = limit_mode::enforce;
};

/// The overflow budget is looked up as `__overflow__`, which an override may name.
ruling ruling_of(const compiled_rules& rules, const budget_role& role, std::string_view key);

/// Whether the rules have an override for this tenant or group. Then it has its own budget, however many there are.
bool is_overridden(const compiled_rules& rules, const budget_role& role, std::string_view key);

/// Whether a group is really called `__overflow__`: it belongs to the overflow budget.
bool is_named_overflow(const label_limit& limit, std::string_view key);

/// Whether counts of one limit can be kept for the other: same name, `perTenant` and `each`.
bool same_groups(const label_limit& one, const label_limit& other);

/// Hashes of the rules that assign series to the budgets of one limit. Equal rules give equal numbers in every process.
/// Never 0.
struct limit_budgets_rules {
    std::uint64_t matching;  ///< which series count
    std::uint64_t sharing;   ///< which series share the overflow budget
};

/// First for the global budget (its hash covers `exempt`), then for tenants, then for each limit.
std::vector<limit_budgets_rules> limit_budgets_rules_of(const compiled_rules& rules);

// --- Final counts of budgets whose window has ended.

/// Series offered in one window: the admitted ones, and those that found no room (an estimate for large numbers).
struct window_demand {
    std::chrono::sys_seconds start;
    std::uint64_t series = 0;

    friend bool operator==(const window_demand&, const window_demand&) = default;
};

enum class demand_scope : std::uint8_t {
    global,
    tenants,  ///< the largest tenant without an override
    tenant,
    limit,  ///< the largest group without an override; or the one budget of a limit without groups
    group,  ///< of a limit with groups or per tenant
};

/// Whether it is one budget of several.
constexpr bool is_part(demand_scope scope) noexcept {
    return scope == demand_scope::tenant || scope == demand_scope::group;
}

/// Keeps the final counts of budgets until take(). Exact and free per series: every budget is visited anyway when a
/// window ends.
///
/// Bounded: of several thousand budgets those with the most demand stay, at most 2.5 MB. The largest of each kind is
/// found among all budgets. Threads: under the commit lock.
class ended_budgets {
  public:
    /// Entries that always stay; up to twice as many are held.
    static constexpr std::size_t kept_min = 1'024;

    struct entry {
        std::shared_ptr<const compiled_rules> rules;
        demand_scope scope = demand_scope::global;
        budget_role role{};
        std::string key{};
        std::optional<window_demand> hour{};
        std::optional<window_demand> day{};
        std::uint64_t active = 0;  ///< most active series at one time in the hour, and those refused

        [[nodiscard]] std::uint64_t rank() const noexcept;
    };

    /// Notes when the hour or day with this number (see budget_table) began. Several may end before all budgets have
    /// caught up.
    void hour_ends(std::uint64_t number, std::chrono::sys_seconds start) noexcept { note(hours_, {number, start}); }
    void day_ends(std::uint64_t number, std::chrono::sys_seconds start) noexcept { note(days_, {number, start}); }

    /// A budget's demand in the window with this number.
    struct numbered {
        std::uint64_t number = 0;
        std::uint64_t series = 0;
    };
    /// Notes the final counts of a budget before it restarts. Without memory it drops them: figures must not cause a
    /// failure.
    /// @param rules in force; `role` refers to them.
    /// @param day set if the day has ended too.
    /// @param active see entry.
    void add(const std::shared_ptr<const compiled_rules>& rules, const budget_role& role, std::string_view key,
             const numbered& hour, const std::optional<numbered>& day, std::uint64_t active) noexcept;

    [[nodiscard]] std::vector<entry> take() noexcept;

  private:
    struct beginning {
        std::uint64_t number = 0;  // numbers start at 1
        std::chrono::sys_seconds start{};
    };
    /// The last windows. More can end before all budgets have caught up only if the clock leaps.
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
    std::uint64_t rank_min_ = 0;  // least demand worth keeping, once entries were dropped
};

}  // namespace seriesgate
