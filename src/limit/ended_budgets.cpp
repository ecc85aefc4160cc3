#include "limit/ended_budgets.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

namespace seriesgate {
namespace {

demand_scope scope_of(const compiled_rules& rules, const budget_role& role) {
    switch (role.kind) {
        case budget_kind::global:
            return demand_scope::global;
        case budget_kind::tenant:
            return demand_scope::tenant;
        case budget_kind::group:
            break;
    }
    const label_limit& limit = rules.limits[role.limit];
    return limit.each.empty() && !limit.per_tenant ? demand_scope::limit : demand_scope::group;
}

std::optional<demand_scope> whole_of(demand_scope part) {
    if (part == demand_scope::tenant) return demand_scope::tenants;
    if (part == demand_scope::group) return demand_scope::limit;
    return std::nullopt;
}

std::uint64_t series_in(const std::optional<window_demand>& window) {
    return window ? window->series : 0;
}

bool same_start(const std::optional<window_demand>& one, const std::optional<window_demand>& other) {
    return one.has_value() == other.has_value() && (!one || one->start == other->start);
}

void raise(std::optional<window_demand>& window, const std::optional<window_demand>& by) {
    if (window) window->series = std::max(window->series, by->series);
}

}  // namespace

std::uint64_t ended_budgets::entry::rank() const noexcept {
    return std::max(series_in(hour), series_in(day));
}

void ended_budgets::note(beginnings& all, const beginning& one) noexcept {
    std::rotate(all.begin(), all.begin() + 1, all.end());
    all.back() = one;
}

std::optional<window_demand> ended_budgets::demand_in(const beginnings& all, const numbered& window) {
    const auto found = std::ranges::find(all, window.number, &beginning::number);
    if (found == all.end()) return std::nullopt;
    return window_demand{.start = found->start, .series = window.series};
}

void ended_budgets::hour_ends(std::uint64_t number, std::chrono::sys_seconds start) noexcept {
    note(hours_, {.number = number, .start = start});
}

void ended_budgets::day_ends(std::uint64_t number, std::chrono::sys_seconds start) noexcept {
    note(days_, {.number = number, .start = start});
}

void ended_budgets::add(const std::shared_ptr<const compiled_rules>& rules, const budget_role& role,
                        std::string_view key, const numbered& hour, const std::optional<numbered>& day) noexcept {
    try {
        const demand_scope scope = scope_of(*rules, role);
        entry made{.rules = rules, .scope = scope, .role = role, .key = {}, .hour = demand_in(hours_, hour), .day = {}};
        if (day) made.day = demand_in(days_, *day);
        if (made.rank() == 0) return;
        const auto whole = whole_of(scope);
        if (whole && !role.overflow && !is_overridden(*rules, role, key)) {
            entry largest = made;
            largest.scope = *whole;
            add_largest(std::move(largest));
        }
        if (!whole) return add_largest(std::move(made));
        if (made.rank() < rank_min_) return;
        made.key = key;
        add_entry(std::move(made));
    } catch (const std::bad_alloc&) {
    }
}

void ended_budgets::add_entry(entry&& made) {
    entries_.push_back(std::move(made));
    if (entries_.size() < 2 * kept_min) return;
    const auto last = entries_.begin() + kept_min - 1;
    std::ranges::nth_element(entries_, last, std::greater{}, &entry::rank);
    rank_min_ = last->rank();
    entries_.resize(kept_min);
}

/// Those of one limit come one after the other.
void ended_budgets::add_largest(entry&& made) {
    if (!largest_.empty()) {
        entry& last = largest_.back();
        const bool is_same = last.rules == made.rules && last.scope == made.scope &&
                             last.role.limit == made.role.limit && same_start(last.hour, made.hour) &&
                             same_start(last.day, made.day);
        if (is_same) {
            raise(last.hour, made.hour);
            raise(last.day, made.day);
            return;
        }
    }
    if (largest_.size() < largest_max) largest_.push_back(std::move(made));
}

std::vector<ended_budgets::entry> ended_budgets::take() noexcept {
    rank_min_ = 0;
    std::vector<entry> all = std::exchange(entries_, {});
    std::vector<entry> largest = std::exchange(largest_, {});
    try {
        all.insert(all.end(), std::make_move_iterator(largest.begin()), std::make_move_iterator(largest.end()));
    } catch (const std::bad_alloc&) {
    }
    return all;
}

}  // namespace seriesgate
