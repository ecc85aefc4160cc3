#include "limit/budget_table.hpp"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "limit/budget.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

/// Reserved from the first group on, if the limit allows so many: rehashing takes some ten milliseconds for these.
constexpr std::size_t groups_reserved_max = 1 << 17;

constexpr budget_role role_of_tenant{.kind = budget_kind::tenant};

budget_role role_of_group(std::size_t limit) noexcept {
    return {.kind = budget_kind::group, .limit = static_cast<std::uint32_t>(limit)};
}

}  // namespace

budget_table::budget_table(std::shared_ptr<const compiled_rules> rules, hash_key key, set_kind set)
    : key_(std::move(key)), rules_(std::move(rules)), counts_active_(set == set_kind::exact), active_(key_) {
    for (std::size_t i = 0; i < first_limit_at + rules_->limits.size(); ++i) limits_.emplace_back(key_);
    budget_pair& global = *limits_.front().all.emplace_back(std::make_unique<budget_pair>());
    open_active(global);
    global.hour = hour_;
    global.day = day_;
    apply_rules(global);
    describe(limit_budgets_rules_of(*rules_));
}

// --- Budgets of one series.

budget_identity budget_in_place(std::size_t place, const rule_selections::one& selection,
                                std::string_view tenant) noexcept {
    if (!is_limit_place(place, selection)) return {.role = role_of_tenant, .key = tenant};
    const std::size_t selected = selected_at(place, selection);
    return {.role = role_of_group(selection.limit_index(selected)), .key = selection.key(selected)};
}

void budget_table::find(tenant_of_request& tenant, const rule_selections::one& selection,
                        std::vector<budget_pair*>& found) {
    assert(!behind_);
    found.clear();
    if (!selection.is_apart()) {
        found.push_back(limits_.front().all.front().get());
        if (tenant.budget == nullptr) tenant.budget = find_in(role_of_tenant, tenant.name);
        found.push_back(tenant.budget);
    }
    for (std::size_t i = 0; i < selection.size(); ++i) {
        const budget_role role = role_of_group(selection.limit_index(i));
        found.push_back(find_in(role, selection.key(i)));
    }
    assert(found.size() == (selection.is_apart() ? 1 : first_limit_place + selection.size()));
    if (snapshot_open_) save_before_change(found);
}

in_windows budget_table::spent_for_new_series(const tenant_of_request& tenant, const rule_selections::one& selection,
                                              std::size_t place) const {
    if (!reserving_) return {};
    auto [role, key] = budget_in_place(place, selection, tenant.name);
    const limit_budgets& of = limit_budgets_of(role);
    role.overflow = shares_overflow(of, role, key);
    if (expects(of, role) == 0) return {};
    const ruling rule = ruling_of(*rules_, role, key.value_or(""));
    if (rule.mode == limit_mode::observe && !selection.exempt()) return {};
    return {.hour = rule.maxima.hourly != 0, .day = day_began_here_ && rule.maxima.daily != 0};
}

budget_table::active_room budget_table::active_room_in(const tenant_of_request& tenant,
                                                       const rule_selections::one& selection, std::size_t place,
                                                       const budget_pair* found, minute_number now) const {
    if (!counts_active_) return {};
    const limit_budgets* of = &limits_.front();
    active_budget fresh;
    const active_budget* budget = &fresh;
    std::uint64_t active = 0;
    if (found != nullptr) {
        budget = &found->active;
        active = active_.count_in(budget->number);
        of = &limit_budgets_of(found->role);
    } else {
        auto [role, key] = budget_in_place(place, selection, tenant.name);
        of = &limit_budgets_of(role);
        role.overflow = shares_overflow(*of, role, key);
        const ruling rule = ruling_of(*rules_, role, key.value_or(""));
        if (rule.mode == limit_mode::observe) return {};  // refuses nothing, see spent_for_new_series
        set_active_max(fresh, rule);
    }
    if (!budget->limits()) return {};
    if (now < of->admits_from) return {.is_spent = true, .has_margin = false};
    return {.is_spent = !budget->has_room(active, now), .has_margin = budget->has_margin(active, now)};
}

std::optional<std::uint64_t> budget_table::active_room_of(const budget_pair& pair, minute_number now) const {
    if (!pair.active.limits()) return std::nullopt;
    if (now < limit_budgets_of(pair.role).admits_from) return 0;
    return pair.active.room(active_.count_in(pair.active.number), now);
}

budget_pair budget_table::missing(const budget_identity& wanted) const {
    budget_pair made;
    made.role = wanted.role;
    made.role.overflow = shares_overflow(limit_budgets_of(wanted.role), wanted.role, wanted.key);
    if (!made.role.overflow) made.key = *wanted.key;
    apply_rules(made);
    return made;
}

void budget_table::make_missing(tenant_of_request& tenant, const rule_selections::one& selection,
                                std::vector<budget_pair*>& found) {
    for (std::size_t place = 0; place < found.size(); ++place) {
        if (found[place] != nullptr) continue;  // the global budget always exists
        const auto [role, key] = budget_in_place(place, selection, tenant.name);
        found[place] = &make_in(role, key);
        if (role.kind == budget_kind::tenant) tenant.budget = found[place];
    }
    assert(std::ranges::count(found, nullptr) == 0);
}

void budget_table::use_overflow(tenant_of_request& tenant, const rule_selections::one& selection, std::size_t place,
                                std::vector<budget_pair*>& found) {
    if (place == 0 || (found[place] != nullptr && found[place]->role.overflow)) return;
    budget_role role = budget_in_place(place, selection, tenant.name).role;
    role.overflow = true;
    found[place] = &make_in(role, std::nullopt);
    if (role.kind == budget_kind::tenant) tenant.budget = found[place];
    if (snapshot_open_) save_before_change({&found[place], 1});
}

budget_pair* budget_table::find_in(const budget_role& role, std::optional<std::string_view> key) const {
    const limit_budgets& of = limit_budgets_of(role);
    if (key)
        if (const auto known = of.by_key.find(*key); known != of.by_key.end()) return known->second;
    if (of.overflow == nullptr || !shares_overflow(of, role, key)) return nullptr;
    return of.overflow;
}

budget_pair& budget_table::make_in(budget_role role, std::optional<std::string_view> key) {
    limit_budgets& of = limits_[index_of(role)];
    role.overflow = role.overflow || shares_overflow(of, role, key);
    if (role.overflow && of.overflow != nullptr) return *of.overflow;
    if (!role.overflow) {
        const auto expected = std::min<std::size_t>(bounded_max(role), groups_reserved_max);
        if (of.by_key.bucket_count() < expected) of.by_key.reserve(expected);
    }
    if (of.all.capacity() == of.all.size()) of.all.reserve(2 * of.all.size() + 1);
    auto made = std::make_unique<budget_pair>();
    budget_pair& pair = *made;
    if (!role.overflow) pair.key.assign(*key);
    pair.role = role;
    pair.hour = hour_;
    pair.day = day_;
    pair.snapshot = snapshot_;  // the running snapshot does not contain it
    apply_rules(pair);
    const std::uint64_t expected = expects(of, role);
    pair.hourly.reserve(expected);
    pair.daily.reserve(day_began_here_ ? expected : 0);
    open_active(pair);
    try {
        if (!role.overflow) of.by_key.emplace(pair.key, &pair);
    } catch (const std::bad_alloc&) {
        close_active(pair);
        throw;
    }
    of.all.push_back(std::move(made));  // nothing fails from here on
    if (role.overflow)
        of.overflow = &pair;
    else if (!is_overridden(*rules_, role, *key))
        ++of.bounded;
    return pair;
}

std::uint64_t budget_table::expects(const limit_budgets& of, const budget_role& role) const noexcept {
    if (!reserving_) return 0;
    const bool may_have_shared = of.overflow_was_used && !role.overflow;
    return knows_incumbents(of) && !may_have_shared ? 0 : budget::all_room;
}

bool budget_table::shares_overflow(const limit_budgets& of, const budget_role& role,
                                   std::optional<std::string_view> key) const {
    if (!key || key->size() > group_key_bytes_max) return true;
    const bool is_tenant = role.kind == budget_kind::tenant;
    if (is_tenant ? *key == overflow_name : is_named_overflow(rules_->limits[role.limit], *key)) return true;
    return of.bounded >= bounded_max(role) && !is_overridden(*rules_, role, *key);
}

/// How many tenants, or groups of the limit, have budgets of their own besides those with overrides.
std::uint64_t budget_table::bounded_max(const budget_role& role) const noexcept {
    return role.kind == budget_kind::tenant ? rules_->tenants.tenants_max : rules_->limits[role.limit].groups_max;
}

void budget_table::open_active(budget_pair& pair) {
    if (!counts_active_) return;
    if (by_number_.capacity() == by_number_.size()) by_number_.reserve(2 * by_number_.size() + 16);
    pair.active.number = active_.open_budget();
    if (pair.active.number > by_number_.size()) by_number_.resize(pair.active.number);
    by_number_[pair.active.number - 1] = &pair;
}

void budget_table::close_active(const budget_pair& pair) noexcept {
    if (pair.active.number == 0) return;
    active_.close_budget(pair.active.number);
    by_number_[pair.active.number - 1] = nullptr;
}

std::uint64_t budget_table::margin(const ruling& rule, std::uint64_t maximum) const noexcept {
    return rule.mode == limit_mode::enforce ? margin_of(*rules_, maximum) : 0;
}

void budget_table::set_active_max(active_budget& budget, const ruling& rule) const noexcept {
    budget.set_max(rule.maxima.active, margin(rule, rule.maxima.active),
                   static_cast<minute_number>(rules_->active_window.count()));
}

void budget_table::apply_rules(budget_pair& pair) const {
    assert(pair.role.kind != budget_kind::group || pair.role.limit < rules_->limits.size());
    const ruling wanted = ruling_of(*rules_, pair.role, pair.key);
    pair.hourly.set_max(wanted.maxima.hourly, margin(wanted, wanted.maxima.hourly));
    pair.daily.set_max(wanted.maxima.daily, margin(wanted, wanted.maxima.daily));
    set_active_max(pair.active, wanted);
    pair.mode = wanted.mode;
    pair.rules = rules_number_;
}

// --- Changes to all budgets.

void budget_table::begin_hour(const new_hour& begun) {
    assert(!begun.in_grace || begun.follows);
    ended_.hour_ends(hour_, begun.ended_hour);
    if (begun.new_day) ended_.day_ends(day_, begun.ended_day);
    hour_ += begun.follows ? 1 : 2;
    hour_minute_ = begun.minute;
    day_ += begun.new_day ? 1 : 0;
    reserving_ = begun.follows && begun.in_grace;
    day_began_here_ = begun.new_day;
    for (limit_budgets& of : limits_) {
        of.overflow_was_used = false;
        if (!begun.follows && of.admits_from != 0) count_anew_active(of);  // the minute was that of another clock
    }
    note_change();
}

void budget_table::end_grace() {
    reserving_ = false;
    note_change();
}

void budget_table::note_change() noexcept {
    ++change_;
    behind_ = true;
    updated_ = begin();
    snapshot_open_ = false;
    for (limit_budgets& of : limits_) of.bounded = 0;
}

std::shared_ptr<void> budget_table::reconfigure(std::shared_ptr<const compiled_rules> rules,
                                                std::span<const limit_budgets_rules> described) {
    const auto gone = std::make_shared<std::vector<limit_budgets>>();  // memory first: nothing fails from the swaps on
    for (std::size_t i = 0; i < first_limit_at + rules->limits.size(); ++i)
        gone->emplace_back(key_).admits_from = admits_none;
    for (std::size_t i = 0; i < first_limit_at; ++i) std::swap((*gone)[i], limits_[i]);
    for (std::size_t i = 0; i < rules->limits.size(); ++i) {
        const auto same = std::ranges::find_if(
            rules_->limits, [&](const label_limit& old) { return same_groups(rules->limits[i], old); });
        if (same != rules_->limits.end())
            std::swap((*gone)[first_limit_at + i],
                      limits_[first_limit_at + static_cast<std::size_t>(same - rules_->limits.begin())]);
    }
    limits_.swap(*gone);
    if (counts_active_)
        for (const limit_budgets& of : *gone)
            for (const auto& pair : of.all) close_active(*pair);
    for (limit_budgets& of : limits_)
        if (of.matching == 0) count_anew(of);
    if (rules->active_window != rules_->active_window)
        for (limit_budgets& of : limits_) count_anew_active(of);
    rules_ = std::move(rules);
    ++rules_number_;
    const std::uint64_t exempted = limits_.front().matching;
    describe(described);
    if (limits_.front().matching != exempted)  // formerly exempt series now count in every budget
        for (limit_budgets& of : limits_) count_anew(of);
    note_change();
    return gone;
}

/// Notes the rules of each limit. Where they changed, the budgets have not counted the whole hour.
void budget_table::describe(std::span<const limit_budgets_rules> described) {
    assert(described.size() == limits_.size());
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        limit_budgets& of = limits_[i];
        const limit_budgets_rules& now = described[i];
        assert(now.matching != 0 && now.sharing != 0);
        const bool shares = of.overflow != nullptr && now.sharing != of.sharing;
        if (of.matching != 0 && (now.matching != of.matching || shares)) count_anew(of);
        of.matching = now.matching;
        of.sharing = now.sharing;
    }
}

/// Series that the budgets did not count by now may come to count in them.
void budget_table::count_anew(limit_budgets& of) noexcept {
    of.whole_since = hour_ + 1;
    count_anew_active(of);
}

void budget_table::count_anew_active(limit_budgets& of) noexcept {
    of.admits_from = admits_none;
    is_outdated_ = true;
}

void budget_table::admit_again(const minutes& at) noexcept {
    for (limit_budgets& of : limits_) {
        if (of.admits_from == admits_none) of.admits_from = at.changed_from;
        if (of.admits_from <= at.now) of.admits_from = 0;
    }
}

void budget_table::know_no_active_series() noexcept {
    for (limit_budgets& of : limits_) count_anew_active(of);
}

void budget_table::catch_up(std::size_t count) {
    const auto counted = [](const budget& of) { return of.admitted() != 0; };
    for (; updated_.index < limits_.size(); ++updated_.index, updated_.place = 0) {
        limit_budgets& of = limits_[updated_.index];
        while (updated_.place < of.all.size()) {
            if (count-- == 0) return;
            budget_pair& pair = *of.all[updated_.place];
            const bool hour_ended = pair.hour != hour_;
            const bool is_used = counted(pair.hourly) ||
                                 (pair.day == day_ && (counted(pair.daily) || pair.daily.refused_series() != 0)) ||
                                 active_.count_in(pair.active.number) != 0 ||
                                 pair.active.newly_active(hour_minute_) != 0;
            if (updated_.index >= first_limit_at)
                pair.role.limit = static_cast<std::uint32_t>(updated_.index - first_limit_at);
            if (hour_ended) {
                note_ended(pair);
                active_.begin_hour(pair.active.number);
            }
            if (hour_ended && !is_used && updated_.index != 0) {
                drop(of, updated_.place);
                continue;
            }
            update(of, pair);
            if (updated_.index != 0 && !pair.role.overflow && !is_overridden(*rules_, pair.role, pair.key))
                ++of.bounded;
            ++updated_.place;
        }
    }
    behind_ = false;
    assert(limits_.front().all.size() == 1 && limits_.size() == first_limit_at + rules_->limits.size());
}

void budget_table::note_ended(const budget_pair& pair) noexcept {
    const auto demand_of = [](const budget& of) { return of.current() + of.refused_series(); };
    std::optional<ended_budgets::numbered> day;
    if (pair.day != day_) day = ended_budgets::numbered{.number = pair.day, .series = demand_of(pair.daily)};
    const std::uint64_t active = active_.peak_in(pair.active.number) + pair.active.refused().estimate();
    ended_.add(rules_, pair.role, pair.key, {.number = pair.hour, .series = demand_of(pair.hourly)}, day, active);
}

void budget_table::drop(limit_budgets& of, std::size_t place) {
    assert(place < of.all.size());
    budget_pair* const dropped = of.all[place].get();
    close_active(*dropped);
    if (dropped == of.overflow) {
        of.overflow = nullptr;
    } else {
        [[maybe_unused]] const std::size_t erased = of.by_key.erase(dropped->key);
        assert(erased == 1);
    }
    std::swap(of.all[place], of.all.back());
    of.all.pop_back();
}

/// Updates a budget to the current hour, day, grace and rules.
void budget_table::update(limit_budgets& of, budget_pair& pair) const {
    if (pair.hour != hour_) {
        const std::uint64_t admitted = pair.hour + 1 == hour_ ? pair.hourly.admitted() : 0;
        if (pair.role.overflow) of.overflow_was_used = admitted != 0;
        const std::uint64_t expected = !reserving_ ? 0 : knows_incumbents(of) ? admitted : budget::all_room;
        pair.hourly.restart();
        pair.active.begin_hour();
        if (pair.hour + 1 != hour_) pair.active.forget_newly_active();  // their minutes were those of another clock
        pair.hourly.reserve(expected);
        if (pair.day != day_) pair.daily.restart();
        // Within a day incumbents are in the day's set already, so nobody would claim a reservation left from midnight.
        pair.daily.reserve(day_began_here_ ? expected : 0);
    } else if (!reserving_) {
        pair.hourly.reserve(0);
        pair.daily.reserve(0);
    } else if (!knows_incumbents(of)) {  // since a reload
        pair.hourly.reserve(budget::all_room);
        if (day_began_here_) pair.daily.reserve(budget::all_room);
    }
    pair.hour = hour_;
    pair.day = day_;
    if (pair.rules != rules_number_) apply_rules(pair);
}

}  // namespace seriesgate
