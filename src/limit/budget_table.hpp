/// Every budget there is.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limit/budget.hpp"
#include "limit/rule_selections.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// One limit's counters for the running hour and day.
struct budget_pair {
    std::string key;  ///< what it is filed under: the tenant's name, or see rule_selections::one::key
    budget hourly;
    budget daily;
    budget_role role;
    limit_mode mode = limit_mode::enforce;
    // See budget_table: the rules that it goes by, the hour and the day that it counts, the last snapshot that has it.
    std::uint64_t rules = 0;
    std::uint64_t hour = 0;
    std::uint64_t day = 0;
    std::uint64_t snapshot = 0;

    [[nodiscard]] bool enforces() const noexcept { return mode == limit_mode::enforce; }
};

/// Places in what budget_table::find fills: the global budget, the tenant's, and those of the limits in their order. Of
/// what is apart there is only the one of its limit.
inline constexpr std::size_t tenant_place = 1;
inline constexpr std::size_t first_limit_place = 2;

/// Whether a limit's budget is in this place, see rule_selections::one.
inline bool is_limit_place(std::size_t place, const rule_selections::one& selection) noexcept {
    return selection.is_apart() || place >= first_limit_place;
}
/// Which of the selected limits. Precondition: is_limit_place().
inline std::size_t selected_at(std::size_t place, const rule_selections::one& selection) noexcept {
    return selection.is_apart() ? place : place - first_limit_place;
}

/// A request's tenant with its budget, which is looked up for the first series that asks and kept for the others: valid
/// under one hold of the commit lock. Null while there is none.
struct tenant_of_request {
    std::string_view name;
    budget_pair* budget = nullptr;
};

/// The global budget, one for each tenant that was seen, one for each group of each label limit. Bounded: beyond
/// the maximum, tenants or groups share an overflow budget.
///
/// Ten thousand budgets are to cost as good as nothing, so a budget is its counters and the key that it is filed
/// under; its name is made when somebody asks.
///
/// Nothing here takes longer for many budgets than for few, since others wait for the commit lock: a new hour, the end
/// of the grace and other rules are noted at once, and the budgets are told one after the other, by catch_up(). Until
/// is_behind() says no, nobody may ask for a budget.
///
/// Incumbents: in a new hour a budget expects the series that it counted in the hour before. One that may not have
/// counted all of those that are now its own (its limit has come, or matches others, since that hour began; its group
/// may have shared the overflow budget) keeps all its room for incumbents until the grace is over.
///
/// Threads: under the commit lock.
class budget_table {
  public:
    /// @param key of this installation: else whoever chooses names could fill one bucket of a table.
    budget_table(std::shared_ptr<const compiled_rules> rules, hash_key key);

    [[nodiscard]] const std::shared_ptr<const compiled_rules>& rules() const noexcept { return rules_; }
    [[nodiscard]] const budget_pair& global() const noexcept { return *fixed_budgets_.all[0]; }

    /// Fills `found` with the budgets that apply to a series. A null pointer stands for one that is not there yet,
    /// which has room (but see spent_for_new_series): a series that is refused must not leave budgets behind.
    void find(tenant_of_request& tenant, const rule_selections::one& selection, std::vector<budget_pair*>& found);
    /// In which windows a budget that find() did not find would have no room for a newcomer: those where it may have
    /// incumbents that it cannot know of. @param place in what find() filled.
    [[nodiscard]] in_windows spent_for_new_series(const tenant_of_request& tenant,
                                                  const rule_selections::one& selection, std::size_t place) const;
    /// Makes those that find() did not find. Nothing else may have been made since.
    void make_missing(tenant_of_request& tenant, const rule_selections::one& selection,
                      std::vector<budget_pair*>& found);

    // What happens to all budgets. The first three are followed by catch_up().

    struct new_hour {
        bool follows = false;   ///< the one that ends is the hour before
        bool in_grace = false;  ///< its incumbents have room reserved
        bool new_day = false;
        // When those began that end now; the day's if it ends.
        std::chrono::sys_seconds ended_hour{};
        std::chrono::sys_seconds ended_day{};
    };
    void begin_hour(const new_hour& begun);
    /// The grace is over: what is still reserved lapses.
    void end_grace();
    /// Takes other rules: budgets of limits that are still there keep their counts, those of others go.
    /// @param described limit_budgets_rules_of them, which takes a while for many overrides.
    /// @return what is left of them, for the caller to destroy without the lock.
    [[nodiscard]] std::shared_ptr<void> reconfigure(std::shared_ptr<const compiled_rules> rules,
                                                    std::span<const limit_budgets_rules> described);

    [[nodiscard]] bool is_behind() const noexcept { return behind_; }
    /// Tells the next `count` budgets what has happened, and drops those that counted nothing in the hour that ended
    /// and have no count in a day that goes on, so that groups which have gone make room.
    void catch_up(std::size_t count);
    /// What those had come to that have been told of a new hour, see ended_budgets.
    [[nodiscard]] std::vector<ended_budgets::entry> take_ended() noexcept { return ended_.take(); }

    // Looking at all of them, some at a time. Budgets that are dropped meanwhile make an end of it.

    /// Where somebody who looks at all budgets has come to.
    struct cursor {
        std::size_t limit_budgets = 0;
        std::size_t place = 0;
        std::uint64_t change = 0;
    };
    [[nodiscard]] cursor begin() const noexcept { return {.limit_budgets = 0, .place = 0, .change = change_}; }
    /// Whether nothing has been moved since the cursor was made.
    [[nodiscard]] bool holds(const cursor& at) const noexcept { return at.change == change_; }
    /// @param visit called with the next `count` budgets.
    /// @return whether there are more. Precondition: holds(at).
    template <class Visit>
    bool visit_some(cursor& at, std::size_t count, Visit visit) const {
        for (; at.limit_budgets < limit_budgets_count(); ++at.limit_budgets, at.place = 0) {
            const entries& all = limit_budgets_at(at.limit_budgets).all;
            for (; at.place < all.size(); ++at.place) {
                if (count-- == 0) return true;
                visit(std::as_const(*all[at.place]));
            }
        }
        return false;
    }

    // The counts as bytes; see budget_records.cpp for the format.

    /// From here on every budget is written as it is now: save_some() writes it, or, if it is about to change before,
    /// find() does. Ends when something happens to all budgets. @return what goes before all budgets.
    [[nodiscard]] std::string begin_snapshot();
    /// Appends the next `count` budgets, and what has been written for being changed.
    /// @return whether there are more.
    bool save_some(std::size_t count, std::string& out);
    /// Whether the snapshot that was begun is still of one moment.
    [[nodiscard]] bool snapshot_holds() const noexcept { return snapshot_open_; }
    void end_snapshot() noexcept;
    /// Fills an unused book. Counts of limits that the rules no longer have, or have differently, are left out.
    void load(state_decoder& in);

  private:
    /// Budgets stay where they are.
    using entries = std::vector<std::unique_ptr<budget_pair>>;

    using index = std::unordered_map<std::string_view, budget_pair*, hash_key>;

    /// The budgets of one label limit, or of the tenants, or the global one, which is always there.
    struct limit_budgets {
        entries all;  ///< the overflow budget among them, which is in no index
        index by_key;
        budget_pair* overflow = nullptr;
        std::size_t bounded = 0;         ///< those without an override: only they count towards the maximum
        std::uint64_t whole_since = 0;   ///< the first hour from whose beginning it has counted all that is its own
        bool overflow_was_used = false;  ///< in the hour before
        std::uint64_t matching = 0;      ///< tells apart by which rules series are its own
        std::uint64_t sharing = 0;       ///< tells apart by which rules they share the overflow budget

        explicit limit_budgets(const hash_key& key) : by_key(0, key) {}
    };

    [[nodiscard]] std::size_t limit_budgets_count() const noexcept { return 2 + limits_.size(); }
    [[nodiscard]] const limit_budgets& limit_budgets_at(std::size_t number) const noexcept;
    [[nodiscard]] limit_budgets& limit_budgets_at(std::size_t number) noexcept;

    [[nodiscard]] budget_pair* find_in(limit_budgets& of, const budget_role& role, std::optional<std::string_view> key);
    budget_pair& make_in(limit_budgets& of, budget_role role, std::optional<std::string_view> key);
    [[nodiscard]] bool shares_overflow(const limit_budgets& of, const budget_role& role,
                                       std::optional<std::string_view> key) const;
    [[nodiscard]] std::uint64_t expects(const limit_budgets& of, const budget_role& role) const noexcept;
    [[nodiscard]] bool knows_incumbents(const limit_budgets& of) const noexcept { return of.whole_since < hour_; }
    void tell(limit_budgets& of, budget_pair& pair) const;
    void apply_rules(budget_pair& pair) const;
    void note_change() noexcept;
    void note_ended(const budget_pair& pair) noexcept;
    static void drop(limit_budgets& of, std::size_t place);
    void describe(std::span<const limit_budgets_rules> described);
    void save_before_change(std::span<budget_pair* const> found);
    void save_pair(std::size_t limit_budgets_number, budget_pair& pair, std::string& into) const;

    struct saved_limit_budgets;
    bool load_limit_budgets_rules(state_decoder& in, limit_budgets* into) const;
    std::vector<saved_limit_budgets> load_all_limit_budgets(state_decoder& in);
    void load_pair(state_decoder& in, std::span<const saved_limit_budgets> limits_budgets);
    budget_pair& pair_for(const saved_limit_budgets& from, bool flag, const std::string& key);

    hash_key key_;
    std::shared_ptr<const compiled_rules> rules_;
    limit_budgets fixed_budgets_;  // global
    limit_budgets tenants_;
    std::vector<limit_budgets> limits_;  // as rules_->limits

    // Rules, hours and days are numbered: the next one has the next number, unless hours were skipped.
    std::uint64_t rules_number_ = 1;
    std::uint64_t hour_ = 2;
    std::uint64_t day_ = 1;
    bool reserving_ = false;       // the grace of this hour has not ended
    bool day_began_here_ = false;  // with this hour
    std::uint64_t change_ = 1;
    bool behind_ = false;
    cursor told_;
    ended_budgets ended_;

    bool snapshot_open_ = false;
    std::uint64_t snapshot_ = 0;
    cursor saved_;
    std::string saved_early_;
};

}  // namespace seriesgate
