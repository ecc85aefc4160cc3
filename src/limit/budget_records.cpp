// The counts of all budgets as bytes. The format, little-endian:
//
//   time      numbers of hour and day; a byte each: the grace has not ended, the day began with this hour
//   shelves   two for the global budget and for the tenants, then the number of limits and one for each, with the
//             limit's name, whether its budgets are the tenants' own (a byte), the number and names of its labels
//             before it. A shelf: whole since which hour, whether the overflow budget was used in the hour before (a
//             byte), and the rules by which series come to it, see shelf_rules
//   budgets   in any order: a byte 1; the number of the shelf; a byte: 1 for the overflow budget; the key; the hour's
//             counts and the day's. Then a byte 0. (Releases that had no limit for exempt series counted them in the
//             overflow budget of shelf 0, for which there is no place now.)
#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "limit/budget_book.hpp"
#include "limit/group_key.hpp"

namespace seriesgate {
namespace {

/// A bound for damage: more limits or labels than fit in a configuration file.
constexpr std::uint64_t limits_max = 1 << 20;
constexpr std::uint64_t hours_max = std::uint64_t{1} << 48;

void put_flag(state_encoder& out, bool flag) {
    out.number(static_cast<std::uint8_t>(flag ? 1 : 0));
}

bool get_flag(state_decoder& in) {
    return in.number<std::uint8_t>() != 0;
}

}  // namespace

std::string budget_book::begin_snapshot() {
    assert(!behind_);
    std::string text;
    text_sink sink{text};
    state_encoder out{sink};
    out.number(hour_);
    out.number(day_);
    put_flag(out, reserving_);
    put_flag(out, day_began_here_);
    const auto put_shelf = [&out](const shelf& of) {
        out.number(of.whole_since);
        put_flag(out, of.overflow_was_used);
        out.number(of.matching);
        out.number(of.sharing);
    };
    put_shelf(fixed_shelf_);
    put_shelf(tenants_);
    out.number(static_cast<std::uint64_t>(limits_.size()));
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        const label_limit& rule = rules_->limits[i];
        out.text(rule.name);
        put_flag(out, rule.per_tenant);
        out.number(static_cast<std::uint64_t>(rule.each.size()));
        for (const std::string& label : rule.each) out.text(label);
        put_shelf(limits_[i]);
    }
    ++snapshot_;
    snapshot_open_ = true;
    saved_ = begin();
    saved_early_.clear();
    return text;
}

void budget_book::save_pair(std::size_t shelf_number, budget_pair& pair, std::string& into) const {
    assert(shelf_number < shelf_count());
    if (pair.snapshot == snapshot_) return;
    pair.snapshot = snapshot_;
    text_sink sink{into};
    state_encoder out{sink};
    out.number(std::uint8_t{1});
    out.number(static_cast<std::uint32_t>(shelf_number));
    put_flag(out, pair.role.overflow);
    out.text(pair.key);
    pair.hourly.save(out);
    pair.daily.save(out);
}

void budget_book::save_before_change(std::span<budget_pair* const> found) {
    for (budget_pair* const pair : found) {
        if (pair == nullptr || pair->snapshot == snapshot_) continue;
        const std::size_t number = pair->role.kind == budget_kind::group    ? 2 + pair->role.limit
                                   : pair->role.kind == budget_kind::tenant ? 1
                                                                            : 0;
        save_pair(number, *pair, saved_early_);
    }
}

bool budget_book::save_some(std::size_t count, std::string& out) {
    assert(snapshot_open_ && !behind_);
    out.append(std::exchange(saved_early_, {}));
    for (; saved_.shelf < shelf_count(); ++saved_.shelf, saved_.place = 0) {
        const entries& all = shelf_at(saved_.shelf).all;
        for (; saved_.place < all.size(); ++saved_.place) {
            if (count-- == 0) return true;
            save_pair(saved_.shelf, *all[saved_.place], out);
        }
    }
    out.push_back('\0');
    snapshot_open_ = false;
    return false;
}

void budget_book::end_snapshot() noexcept {
    snapshot_open_ = false;
    saved_early_ = {};
}

/// Which shelf here is the saved one of that number, if any, and whether the same tenants or groups share there.
struct budget_book::saved_shelf {
    std::optional<std::size_t> number;
    bool same_sharing = true;
    std::size_t parts = 0;  ///< of its keys; 0: any
};

void budget_book::load(state_decoder& in) {
    hour_ = std::max<std::uint64_t>(in.count(hours_max), 2);
    day_ = in.count(hours_max);
    const bool reserving = get_flag(in);  // set at the end: what is made here has its reservation in the file
    day_began_here_ = get_flag(in);
    const std::vector<saved_shelf> shelves = load_shelves(in);
    while (in.good() && get_flag(in)) load_pair(in, shelves);
    if (!in.good()) return;
    for (const auto& always_there : fixed_shelf_.all) {
        always_there->hour = hour_;
        always_there->day = day_;
    }
    reserving_ = reserving;
    ++rules_number_;  // the maxima are those of the rules here, which may have room for what was counted beyond others
    note_change();
}

/// @param into nothing if the rules here have no such shelf. @return whether the same ones share the overflow budget.
bool budget_book::load_shelf_rules(state_decoder& in, shelf* into) const {
    const auto whole_since = in.count(hours_max);
    const bool overflow_was_used = get_flag(in);
    const auto matching = in.number<std::uint64_t>();
    const auto sharing = in.number<std::uint64_t>();
    if (into == nullptr) return true;
    into->whole_since = matching == into->matching ? whole_since : hour_ + 1;
    into->overflow_was_used = overflow_was_used;
    return sharing == into->sharing;
}

std::vector<budget_book::saved_shelf> budget_book::load_shelves(state_decoder& in) {
    load_shelf_rules(in, &fixed_shelf_);
    // Other series were exempt: what is now in the budgets was not counted by any.
    const bool others_exempt = fixed_shelf_.whole_since > hour_;
    std::vector<saved_shelf> shelves{{.number = 0}, {.number = 1, .same_sharing = load_shelf_rules(in, &tenants_)}};
    for (shelf& of : limits_) of.whole_since = hour_ + 1;
    for (std::uint64_t left = in.count(limits_max); left > 0 && in.good(); --left) {
        label_limit saved;
        saved.name = in.text();
        saved.per_tenant = get_flag(in);
        for (std::uint64_t labels = in.count(limits_max); labels > 0 && in.good(); --labels)
            saved.each.push_back(in.text());
        saved_shelf& of = shelves.emplace_back();
        of.parts = saved.each.size() + (saved.per_tenant ? 1 : 0);
        for (std::size_t i = 0; i < limits_.size(); ++i)
            if (same_groups(rules_->limits[i], saved)) of.number = 2 + i;
        of.same_sharing = load_shelf_rules(in, of.number ? &shelf_at(*of.number) : nullptr);
    }
    if (others_exempt)
        for (std::size_t i = 0; i < shelf_count(); ++i) shelf_at(i).whole_since = hour_ + 1;
    return shelves;
}

void budget_book::load_pair(state_decoder& in, std::span<const saved_shelf> shelves) {
    const auto number = in.number<std::uint32_t>();
    const bool flag = get_flag(in);
    const std::string key = in.text();
    if (number >= shelves.size()) return in.fail();
    const saved_shelf& from = shelves[number];
    if (number >= 2 && !flag && split_key(key).size() != from.parts) return in.fail();
    budget hourly;
    budget daily;
    hourly.load(in);
    daily.load(in);
    if (!in.good() || !from.number || (number == 0 && flag)) return;
    if (number != 0 && !flag && shelf_at(*from.number).by_key.contains(key)) return in.fail();  // twice
    budget_pair& into = pair_for(from, flag, key);
    // Adds to what is there: several tenants or groups of a saved book may share the overflow budget of this one.
    into.hourly.absorb(hourly);
    into.daily.absorb(daily);
    into.hour = hour_;
    into.day = day_;
}

/// @param flag as in the file.
budget_pair& budget_book::pair_for(const saved_shelf& from, bool flag, const std::string& key) {
    const std::size_t number = *from.number;
    assert(number < shelf_count());
    shelf& of = shelf_at(number);
    if (number == 0) return *of.all[0];
    const bool is_tenant = number == 1;
    const budget_role role{.kind = is_tenant ? budget_kind::tenant : budget_kind::group,
                           .overflow = flag,
                           .limit = is_tenant ? 0 : static_cast<std::uint32_t>(number - 2)};
    if (flag && !from.same_sharing) of.whole_since = hour_ + 1;
    return make_in(of, role, key);
}

}  // namespace seriesgate
