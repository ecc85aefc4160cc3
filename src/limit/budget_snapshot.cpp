// Budgets in the limiter's state, see snapshot.cpp.
#include <algorithm>
#include <cassert>
#include <new>
#include <optional>
#include <utility>

#include "limit/budget_table.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

/// Bounds for damaged files: more limits or labels than fit in a configuration file.
constexpr std::uint64_t limits_max = 1 << 20;
constexpr std::uint64_t hours_max = std::uint64_t{1} << 48;

/// Damaged files have other bytes than a flag's.
bool get_flag(state_decoder& in) {
    return in.number<std::uint8_t>() != 0;
}

}  // namespace

std::string budget_table::begin_snapshot() {
    assert(!behind_);
    std::string text;
    text_sink sink{text};
    state_encoder out{sink};
    out.numbers(hour_, day_, reserving_, day_began_here_);
    const auto put_limit_budgets = [&](const limit_budgets& of) {
        if (counts_active_) out.number(of.admits_from);
        out.numbers(of.whole_since, of.overflow_was_used, of.matching, of.sharing);
    };
    for (std::size_t i = 0; i < first_limit_at; ++i) put_limit_budgets(limits_[i]);
    out.number(static_cast<std::uint64_t>(rules_->limits.size()));
    for (std::size_t i = 0; i < rules_->limits.size(); ++i) {
        const label_limit& rule = rules_->limits[i];
        out.text(rule.name);
        out.numbers(rule.per_tenant, static_cast<std::uint64_t>(rule.each.size()));
        for (const std::string& label : rule.each) out.text(label);
        put_limit_budgets(limits_[first_limit_at + i]);
    }
    ++snapshot_;
    snapshot_open_ = true;
    saved_ = begin();
    saved_early_.clear();
    return text;
}

void budget_table::save_pair(std::size_t limit_budgets_number, budget_pair& pair, std::string& into) const {
    assert(limit_budgets_number < limits_.size());
    if (pair.snapshot == snapshot_) return;
    pair.snapshot = snapshot_;
    text_sink sink{into};
    state_encoder out{sink};
    out.numbers(std::uint8_t{1}, static_cast<std::uint32_t>(limit_budgets_number), pair.role.overflow);
    out.text(pair.key);
    out.parts(pair.hourly, pair.daily);
    if (counts_active_) pair.active.save(out);
}

/// Without memory the snapshot ends: a part of a budget would make all of it unreadable.
void budget_table::save_before_change(std::span<budget_pair* const> found) noexcept try {
    for (budget_pair* const pair : found) {
        if (pair == nullptr || pair->snapshot == snapshot_) continue;
        save_pair(index_of(pair->role), *pair, saved_early_);
    }
} catch (const std::bad_alloc&) {
    end_snapshot();
}

bool budget_table::save_some(std::size_t count, std::string& out) {
    assert(snapshot_open_ && !behind_);
    out.append(std::exchange(saved_early_, {}));
    for (; saved_.index < limits_.size(); ++saved_.index, saved_.place = 0) {
        const entries& all = limits_[saved_.index].all;
        for (; saved_.place < all.size(); ++saved_.place) {
            if (count-- == 0) return true;
            save_pair(saved_.index, *all[saved_.place], out);
        }
    }
    out.push_back('\0');
    snapshot_open_ = false;
    return false;
}

void budget_table::end_snapshot() noexcept {
    snapshot_open_ = false;
    saved_early_ = {};
}

/// Maps a saved limit's budgets to the ones here, if the rules still have that limit.
struct budget_table::saved_limit_budgets {
    std::optional<std::size_t> number;
    bool same_sharing = true;
    std::size_t parts = 0;  ///< number of parts of its keys; 0: any
};

void budget_table::load(state_decoder& in, set_kind of_file) {
    file_counts_active_ = of_file == set_kind::exact;
    hour_ = std::max<std::uint64_t>(in.count(hours_max), 2);
    day_ = in.count(hours_max);
    const bool reserving = get_flag(in);  // set at the end: budgets made here get their reservation from the file
    day_began_here_ = get_flag(in);
    const std::vector<saved_limit_budgets> saved = load_all_limit_budgets(in);
    while (in.good() && get_flag(in)) load_pair(in, saved);
    if (!in.good()) return;
    budget_pair& always_there = *limits_.front().all.front();
    always_there.hour = hour_;
    always_there.day = day_;
    reserving_ = reserving;
    ++rules_number_;  // applies the current maxima, which may have room for series counted beyond the old ones
    note_change();
}

/// @param into null if the rules lack this limit. @return whether the same groups share the overflow budget.
bool budget_table::load_limit_budgets_head(state_decoder& in, limit_budgets* into) {
    const auto admits_from = file_counts_active_ ? in.number<minute_number>() : 0;
    const auto whole_since = in.count(hours_max);
    const bool overflow_was_used = get_flag(in);
    const auto matching = in.number<std::uint64_t>();
    const auto sharing = in.number<std::uint64_t>();
    if (into == nullptr) return true;
    into->admits_from = admits_from;
    into->whole_since = whole_since;
    if (matching != into->matching) count_anew(*into);
    into->overflow_was_used = overflow_was_used;
    return sharing == into->sharing;
}

std::vector<budget_table::saved_limit_budgets> budget_table::load_all_limit_budgets(state_decoder& in) {
    load_limit_budgets_head(in, &limits_.front());
    // Other series were exempt then, so no budget counted them.
    const bool others_exempt = limits_.front().whole_since > hour_;
    std::vector<saved_limit_budgets> made{
        {.number = 0}, {.number = tenants_at, .same_sharing = load_limit_budgets_head(in, &limits_[tenants_at])}};
    for (std::size_t i = first_limit_at; i < limits_.size(); ++i) count_anew(limits_[i]);
    for (std::uint64_t left = in.count(limits_max); left > 0 && in.good(); --left) {
        label_limit saved;
        saved.name = in.text();
        saved.per_tenant = get_flag(in);
        for (std::uint64_t labels = in.count(limits_max); labels > 0 && in.good(); --labels)
            saved.each.push_back(in.text());
        saved_limit_budgets& of = made.emplace_back();
        of.parts = saved.each.size() + (saved.per_tenant ? 1 : 0);
        for (std::size_t i = 0; i < rules_->limits.size(); ++i)
            if (same_groups(rules_->limits[i], saved)) of.number = first_limit_at + i;
        of.same_sharing = load_limit_budgets_head(in, of.number ? &limits_[*of.number] : nullptr);
    }
    if (others_exempt)
        for (limit_budgets& of : limits_) count_anew(of);
    return made;
}

void budget_table::load_pair(state_decoder& in, std::span<const saved_limit_budgets> saved) {
    const auto number = in.number<std::uint32_t>();
    const bool is_overflow = get_flag(in);
    const std::string key = in.text();
    if (number >= saved.size()) return in.fail();
    const saved_limit_budgets& from = saved[number];
    std::size_t parts = 0;
    for (std::string_view rest = key; take_key_part(rest);) ++parts;
    if (number >= first_limit_at && !is_overflow && parts != from.parts) return in.fail();
    budget hourly;
    budget daily;
    in.parts(hourly, daily);
    active_budget active;
    if (file_counts_active_) active.load(in);
    if (!in.good() || !from.number || (number == 0 && is_overflow)) return;
    if (number != 0 && !is_overflow && limits_[*from.number].by_key.contains(key)) return in.fail();  // a duplicate
    budget_pair& into = pair_for(from, is_overflow, key);
    // Adds, because several saved tenants or groups may share this table's overflow budget.
    into.hourly.absorb(hourly);
    into.daily.absorb(daily);
    if (counts_active_) into.active.absorb(active);
    if (active.number != 0) numbers_of_saved_.emplace(active.number, into.active.number);
    into.hour = hour_;
    into.day = day_;
}

budget_pair& budget_table::pair_for(const saved_limit_budgets& from, bool is_overflow, const std::string& key) {
    const std::size_t number = *from.number;
    limit_budgets& of = limits_[number];
    if (number == 0) return *of.all.front();
    const bool is_tenant = number == tenants_at;
    const budget_role role{.kind = is_tenant ? budget_kind::tenant : budget_kind::group,
                           .overflow = is_overflow,
                           .limit = is_tenant ? 0 : static_cast<std::uint32_t>(number - first_limit_at)};
    if (is_overflow && !from.same_sharing) count_anew(of);
    return make_in(role, key);
}

}  // namespace seriesgate
