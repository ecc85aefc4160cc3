/// All budgets: global, by tenant, and by group of each label limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "limit/active_series.hpp"
#include "limit/budget.hpp"
#include "limit/rule_selections.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// One budget's counters for the running hour and day.
struct budget_pair {
    std::string key;  ///< the tenant's name, or rule_selections::one::key
    budget hourly;
    budget daily;
    active_budget active;
    budget_role role;
    limit_mode mode = limit_mode::enforce;
    // The numbers (see budget_table) of the rules, hour and day that it has caught up with, and of the last snapshot
    // that contains it.
    std::uint64_t rules = 0;
    std::uint64_t hour = 0;
    std::uint64_t day = 0;
    std::uint64_t snapshot = 0;

    [[nodiscard]] bool enforces() const noexcept { return mode == limit_mode::enforce; }
};

/// Places in the result of budget_table::find: global, tenant, then the limits in order. For exempt series and ignored
/// values: only the budget of that limit.
inline constexpr std::size_t tenant_place = 1;
inline constexpr std::size_t first_limit_place = 2;

/// Whether this place holds a limit's budget.
inline bool is_limit_place(std::size_t place, const rule_selections::one& selection) noexcept {
    return selection.is_apart() || place >= first_limit_place;
}
/// Index of that limit among the selected ones. Precondition: is_limit_place().
inline std::size_t selected_at(std::size_t place, const rule_selections::one& selection) noexcept {
    return selection.is_apart() ? place : place - first_limit_place;
}

/// A budget by what identifies it, whether it exists or not.
struct budget_identity {
    budget_role role;
    std::optional<std::string_view> key;  ///< see budget_pair; nothing: too long for a budget of its own
};
/// The budget of a series in a place of find() other than the global one's.
budget_identity budget_in_place(std::size_t place, const rule_selections::one& selection,
                                std::string_view tenant) noexcept;

/// A request's tenant and its budget, found once and reused for the other series. Null: not found yet. Valid under one
/// hold of the commit lock.
struct tenant_of_request {
    std::string_view name;
    budget_pair* budget = nullptr;
};

/// The global budget, one budget for each tenant seen, one for each group of each label limit. Beyond the maximum
/// number, tenants or groups share an overflow budget.
///
/// A budget must be cheap, as there may be ten thousand: it is counters and a key. Names are made on request.
///
/// No call takes longer if there are more budgets, because others wait for the commit lock. A new hour, the end of the
/// grace, and new rules are only noted; catch_up() updates the budgets piece by piece. While is_behind(), no budget may
/// be used. Beyond 131,072 groups of one limit, the index is rehashed now and then: some ten milliseconds each time.
///
/// Incumbents: in a new hour, a budget reserves room for the series that it counted in the hour before. If it may have
/// missed some, it reserves all room until the grace ends. That happens if its limit is new or changed its selector in
/// that hour, or if its group shared the overflow budget. Threads: under the commit lock.
class budget_table {
  public:
    /// @param key of this installation; keeps senders from choosing names that all fall into one hash bucket.
    /// @param set exact: active series are counted.
    budget_table(std::shared_ptr<const compiled_rules> rules, hash_key key, set_kind set);

    [[nodiscard]] const std::shared_ptr<const compiled_rules>& rules() const noexcept { return rules_; }
    [[nodiscard]] const budget_pair& global() const noexcept { return *limits_.front().all.front(); }

    /// Fills `found` with the budgets of a series. Null means that the budget does not exist yet and has room (but see
    /// spent_for_new_series): refused series must not create budgets.
    void find(tenant_of_request& tenant, const rule_selections::one& selection, std::vector<budget_pair*>& found);
    /// Windows in which a budget that does not exist yet has no room for a new series: it may have incumbents that it
    /// does not know.
    /// @param place in the result of find().
    [[nodiscard]] in_windows spent_for_new_series(const tenant_of_request& tenant,
                                                  const rule_selections::one& selection, std::size_t place) const;
    /// Whether a newly active series finds room in a budget's active series, and whether it may complete its histogram
    /// without.
    struct active_room {
        bool is_spent = false;
        bool has_margin = false;
    };
    /// @param found the budget in `place` of find(), or null.
    [[nodiscard]] active_room active_room_in(const tenant_of_request& tenant, const rule_selections::one& selection,
                                             std::size_t place, const budget_pair* found, minute_number now) const;
    /// Newly active series that would find room among the active series; nothing: not limited.
    [[nodiscard]] std::optional<std::uint64_t> active_room_of(const budget_pair& pair, minute_number now) const;
    /// The budget that make_missing() would make, without reserved room.
    [[nodiscard]] budget_pair missing(const budget_identity& wanted) const;
    /// Creates the budgets missing from the last find(). No other budget may have been created since.
    void make_missing(tenant_of_request& tenant, const rule_selections::one& selection,
                      std::vector<budget_pair*>& found);
    /// Fleet: the store counts the series in the overflow budget, whatever this gate knows of groups.
    void use_overflow(tenant_of_request& tenant, const rule_selections::one& selection, std::size_t place,
                      std::vector<budget_pair*>& found);

    // Changes to all budgets. catch_up() follows begin_hour(), end_grace() and reconfigure().

    struct new_hour {
        bool follows = false;   ///< the hour that ends is the one directly before
        bool in_grace = false;  ///< its incumbents have room reserved
        bool new_day = false;
        minute_number minute = 0;  ///< when it begins here
        // Start of the ended hour, and of the ended day if one ended.
        std::chrono::sys_seconds ended_hour{};
        std::chrono::sys_seconds ended_day{};
    };
    void begin_hour(const new_hour& begun);
    void end_grace();
    /// Takes new rules. Budgets of limits that still exist keep their counts; the others are removed.
    /// @param described limit_budgets_rules_of(*rules); slow with many overrides, so computed before.
    /// @return the removed budgets, to be destroyed without the lock.
    [[nodiscard]] std::shared_ptr<void> reconfigure(std::shared_ptr<const compiled_rules> rules,
                                                    std::span<const limit_budgets_rules> described);

    [[nodiscard]] bool is_behind() const noexcept { return behind_; }

    // Active series. After new rules, budgets that count other series than before admit no newly active series for a
    // while.

    [[nodiscard]] active_series& active() noexcept { return active_; }
    [[nodiscard]] const active_series& active() const noexcept { return active_; }
    /// The budget that counts active series under this number; null if it has gone.
    [[nodiscard]] const budget_pair* pair_of(active_series::budget_number number) const noexcept {
        return number == 0 || number > by_number_.size() ? nullptr : by_number_[number - 1];
    }
    /// Whether series may count in other budgets than their combination says, since the last call.
    [[nodiscard]] bool take_outdated() noexcept { return std::exchange(is_outdated_, false); }
    struct minutes {
        minute_number now;
        minute_number changed_from;
    };
    /// Budgets that have changed since the last call admit newly active series from `changed_from` on.
    void admit_again(const minutes& at) noexcept;
    /// No budget knows its active series: the state from before had none.
    void know_no_active_series() noexcept;
    /// Updates the next `count` budgets. Drops budgets that counted nothing in the ended hour and have no count in a
    /// day that continues, so unused groups make room.
    void catch_up(std::size_t count);
    /// Final counts of the budgets that have caught up with a new hour, see ended_budgets.
    [[nodiscard]] std::vector<ended_budgets::entry> take_ended() noexcept { return ended_.take(); }

    // Visiting all budgets, some at a time. A change to all budgets invalidates the cursor.

    struct cursor {
        std::size_t index = 0;
        std::size_t place = 0;
        std::uint64_t change = 0;
    };
    [[nodiscard]] cursor begin() const noexcept { return {.index = 0, .place = 0, .change = change_}; }
    [[nodiscard]] bool holds(const cursor& at) const noexcept { return at.change == change_; }
    /// Calls `visit` with the next `count` budgets. @return whether there are more. Precondition: holds(at).
    template <class Visit>
    bool visit_some(cursor& at, std::size_t count, Visit visit) const {
        for (; at.index < limits_.size(); ++at.index, at.place = 0) {
            const entries& all = limits_[at.index].all;
            for (; at.place < all.size(); ++at.place) {
                if (count-- == 0) return true;
                visit(std::as_const(*all[at.place]));
            }
        }
        return false;
    }

    /// As visit_some(), with budgets that may change: by what a fleet has counted in them.
    template <class Visit>
    bool change_some(cursor& at, std::size_t count, Visit visit) {
        return visit_some(at, count, [this, &visit](const budget_pair& pair) {
            budget_pair* const changed = const_cast<budget_pair*>(&pair);
            if (snapshot_open_) save_before_change({&changed, 1});
            visit(*changed);
        });
    }

    // Saving and loading; snapshot.cpp describes the format.

    /// Begins a snapshot of this moment. save_some() writes each budget; find() writes those that are about to change
    /// earlier. A change to all budgets ends the snapshot.
    /// @return the header before all budgets.
    [[nodiscard]] std::string begin_snapshot();
    /// Appends the next `count` budgets, and those written early. @return whether there are more.
    bool save_some(std::size_t count, std::string& out);
    /// Whether the snapshot still shows one moment.
    [[nodiscard]] bool snapshot_holds() const noexcept { return snapshot_open_; }
    void end_snapshot() noexcept;
    /// Fills an unused table. Leaves out counts of limits that the rules lack or define differently.
    /// @param of_file how the gate that saved it remembered series.
    void load(state_decoder& in, set_kind of_file);
    /// The active budget that counts for one of the file; 0 if there is none. Valid after load().
    [[nodiscard]] active_series::budget_number number_of_saved(active_series::budget_number number) const noexcept {
        const auto found = numbers_of_saved_.find(number);
        return found == numbers_of_saved_.end() ? 0 : found->second;
    }

  private:
    /// Pointers, so that budgets never move.
    using entries = std::vector<std::unique_ptr<budget_pair>>;

    static constexpr minute_number admits_none = std::numeric_limits<minute_number>::max();

    using index = std::unordered_map<std::string_view, budget_pair*, hash_key>;

    /// The budgets of one label limit, or of all tenants, or the global one alone.
    struct limit_budgets {
        entries all;  ///< with the overflow budget, which is not in by_key
        index by_key;
        budget_pair* overflow = nullptr;
        std::size_t bounded = 0;         ///< budgets without an override: only they count against the maximum
        std::uint64_t whole_since = 0;   ///< first hour of which all matching series were counted from the start
        bool overflow_was_used = false;  ///< in the hour before
        std::uint64_t matching = 0;      ///< see limit_budgets_rules
        std::uint64_t sharing = 0;       ///< see limit_budgets_rules
        minute_number admits_from = 0;   ///< admits_none: not known yet

        explicit limit_budgets(const hash_key& key) : by_key(0, key) {}
    };

    [[nodiscard]] const limit_budgets& limit_budgets_of(const budget_role& role) const noexcept {
        return limits_[index_of(role)];
    }
    /// Index in limits_.
    [[nodiscard]] static std::size_t index_of(const budget_role& role) noexcept {
        return role.kind == budget_kind::global   ? 0
               : role.kind == budget_kind::tenant ? tenants_at
                                                  : first_limit_at + role.limit;
    }

    [[nodiscard]] budget_pair* find_in(const budget_role& role, std::optional<std::string_view> key) const;
    budget_pair& make_in(budget_role role, std::optional<std::string_view> key);
    [[nodiscard]] std::uint64_t bounded_max(const budget_role& role) const noexcept;
    [[nodiscard]] bool shares_overflow(const limit_budgets& of, const budget_role& role,
                                       std::optional<std::string_view> key) const;
    [[nodiscard]] std::uint64_t expects(const limit_budgets& of, const budget_role& role) const noexcept;
    [[nodiscard]] bool knows_incumbents(const limit_budgets& of) const noexcept { return of.whole_since < hour_; }
    void update(limit_budgets& of, budget_pair& pair) const;
    void apply_rules(budget_pair& pair) const;
    void note_change() noexcept;
    void note_ended(const budget_pair& pair) noexcept;
    void drop(limit_budgets& of, std::size_t place);
    void count_anew(limit_budgets& of) noexcept;
    void count_anew_active(limit_budgets& of) noexcept;
    void open_active(budget_pair& pair);
    void close_active(const budget_pair& pair) noexcept;
    [[nodiscard]] std::uint64_t margin(const ruling& rule, std::uint64_t maximum) const noexcept;
    void set_active_max(active_budget& budget, const ruling& rule) const noexcept;
    void describe(std::span<const limit_budgets_rules> described);
    void save_before_change(std::span<budget_pair* const> found) noexcept;
    void save_pair(std::size_t limit_budgets_number, budget_pair& pair, std::string& into) const;

    struct saved_limit_budgets;
    bool load_limit_budgets_head(state_decoder& in, limit_budgets* into);
    std::vector<saved_limit_budgets> load_all_limit_budgets(state_decoder& in);
    void load_pair(state_decoder& in, std::span<const saved_limit_budgets> saved);
    budget_pair& pair_for(const saved_limit_budgets& from, bool is_overflow, const std::string& key);

    hash_key key_;
    std::shared_ptr<const compiled_rules> rules_;
    bool counts_active_;
    active_series active_;
    std::vector<const budget_pair*> by_number_;  // of active budgets
    bool is_outdated_ = false;
    std::vector<limit_budgets> limits_;  // the global budget, tenants, then as rules_->limits
    static constexpr std::size_t tenants_at = 1, first_limit_at = 2;

    // Running numbers of rules, hours and days. Successive hours have successive numbers; a gap in time leaves a gap.
    std::uint64_t rules_number_ = 1;
    std::uint64_t hour_ = 2;
    std::uint64_t day_ = 1;
    bool reserving_ = false;       // the grace of this hour is running
    bool day_began_here_ = false;  // the day began with this hour
    std::uint64_t change_ = 1;
    bool behind_ = false;
    minute_number hour_minute_ = 0;  // when the hour began here
    cursor updated_;
    ended_budgets ended_;

    bool file_counts_active_ = false;
    std::unordered_map<active_series::budget_number, active_series::budget_number> numbers_of_saved_;
    bool snapshot_open_ = false;
    std::uint64_t snapshot_ = 0;
    cursor saved_;
    std::string saved_early_;
};

}  // namespace seriesgate
