#include "cardinality/demand_history.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace seriesgate {
namespace {

constexpr char first_letter = 'a';
constexpr char last_letter = first_letter + static_cast<char>(demand_scope::group);

char letter_of(demand_scope scope) {
    return static_cast<char>(first_letter + static_cast<char>(scope));
}

constexpr std::uint8_t without_active = 1, with_active = 2;  // versions of the format
/// Bound for damaged files: the year 2200.
constexpr std::int64_t hour_max = 2'016'000;

std::int64_t day_number(std::chrono::sys_seconds start) {
    return std::chrono::floor<std::chrono::days>(start).time_since_epoch().count();
}

template <class Ring>
demand_history::past past_of(const Ring& ring) {
    std::vector<std::uint64_t> found;
    std::ranges::copy_if(ring, std::back_inserter(found), [](std::uint64_t series) { return series != 0; });
    if (found.empty()) return {};
    std::ranges::sort(found);
    return {.peak = found.back(), .typical = found[(found.size() - 1) / 2], .windows = found.size()};
}

}  // namespace

demand_scope scope_of(const budget_name& name) {
    if (name.limit.empty()) return demand_scope::tenant;
    return name.is_whole_limit() ? demand_scope::limit : demand_scope::group;
}

std::string demand_key(demand_scope scope, const budget_name& name) {
    std::string key{letter_of(scope)};
    key += name.overflow ? 'o' : name.has_tenant ? 't' : '-';
    append_key_part(key, name.limit);
    append_key_part(key, name.tenant);
    for (const auto& [label, value] : name.group) {
        append_key_part(key, label);
        append_key_part(key, value);
    }
    return key;
}

bool is_part(std::string_view key) {
    assert(!key.empty());
    return key.front() == letter_of(demand_scope::tenant) || key.front() == letter_of(demand_scope::group);
}

bool is_demand_key(std::string_view key) {
    return !key.empty() && key.front() >= first_letter && key.front() <= last_letter;
}

std::uint64_t demand_history::kept::peak() const noexcept {
    return std::max({std::ranges::max(hours), std::ranges::max(days), std::ranges::max(active)});
}

/// Slot of a window in a ring. A newer window drops the oldest. So does one older than all kept ones: the clock was
/// wrong then.
template <class Ring>
std::size_t demand_history::slot_of(std::int64_t window, std::int64_t& newest,
                                    std::initializer_list<Ring kept::*> rings) {
    constexpr auto count = static_cast<std::int64_t>(std::tuple_size_v<Ring>);
    assert(window >= 0);
    const bool is_older = window <= newest - count;
    const std::int64_t passed = is_older ? count : std::clamp<std::int64_t>(window - newest, 0, count);
    for (std::int64_t i = 0; i < passed; ++i) {
        const auto slot = static_cast<std::size_t>((window - i) % count + count) % static_cast<std::size_t>(count);
        for (auto& [key, budget] : budgets_)
            for (Ring kept::*const ring : rings) (budget.*ring)[slot] = 0;
    }
    if (passed > 0) newest = window;
    return static_cast<std::size_t>(window % count);
}

std::size_t demand_history::slot_of_hour(std::int64_t hour) {
    return slot_of<hours_ring>(hour, newest_hour_, {&kept::hours, &kept::active});
}

bool demand_history::has_active() const noexcept {
    return std::ranges::any_of(budgets_, [](const auto& of) { return std::ranges::max(of.second.active) != 0; });
}

void demand_history::add(std::span<const ended_budget> ended) {
    for (const ended_budget& each : ended) {
        std::string key = demand_key(each.scope, each.name);
        if (key.size() > key_bytes_max) continue;
        const auto at = budgets_.try_emplace(std::move(key)).first;
        const auto raise = [](auto& ring, std::size_t slot, std::uint64_t series) {
            ring[slot] = std::max(ring[slot], series);
        };
        if (each.hour) {
            const std::size_t slot = slot_of_hour(hour_number(each.hour->start));
            raise(at->second.hours, slot, each.hour->series);
            raise(at->second.active, slot, each.active);
        }
        if (each.day) {
            const std::size_t slot = slot_of<days_ring>(day_number(each.day->start), newest_day_, {&kept::days});
            raise(at->second.days, slot, each.day->series);
        }
    }
    trim(true, parts_max);
    trim(false, wholes_max);
}

void demand_history::advance(std::chrono::sys_seconds hour, std::chrono::sys_seconds day) {
    slot_of_hour(std::max<std::int64_t>(hour_number(hour) - 1, 0));
    slot_of<days_ring>(std::max<std::int64_t>(day_number(day) - 1, 0), newest_day_, {&kept::days});
}

/// Drops budgets without demand, then those with the lowest peaks beyond count_max.
void demand_history::trim(bool parts, std::size_t count_max) {
    std::vector<std::pair<std::uint64_t, std::string>> peaks;
    for (auto at = budgets_.begin(); at != budgets_.end();) {
        const std::uint64_t peak = at->second.peak();
        const bool is_meant = is_part(at->first) == parts;
        if (is_meant && peak != 0) peaks.emplace_back(peak, at->first);
        at = is_meant && peak == 0 ? budgets_.erase(at) : std::next(at);
    }
    if (peaks.size() <= count_max) return;
    const auto end = peaks.begin() + static_cast<std::ptrdiff_t>(count_max);
    std::ranges::nth_element(peaks, end, std::greater{});
    for (auto at = end; at != peaks.end(); ++at) budgets_.erase(at->second);
}

demand_history::pasts demand_history::find(std::string_view key) const {
    const auto found = budgets_.find(key);
    if (found == budgets_.end()) return {};
    const kept& of = found->second;
    return {.hourly = past_of(of.hours), .daily = past_of(of.days), .active = past_of(of.active)};
}

void demand_history::save(state_encoder& out) const {
    const bool is_active = has_active();
    out.numbers(is_active ? with_active : without_active, newest_hour_, newest_day_,
                static_cast<std::uint64_t>(budgets_.size()));
    for (const auto& [key, budget] : budgets_) {
        out.text(key);
        for (const std::uint64_t each : budget.hours) out.number(each);
        for (const std::uint64_t each : budget.days) out.number(each);
        if (!is_active) continue;
        for (const std::uint64_t each : budget.active) out.number(each);
    }
}

bool demand_history::load(state_decoder& in) {
    const auto version = in.number<std::uint8_t>();
    if (version != without_active && version != with_active) in.fail();
    demand_history loaded;
    loaded.newest_hour_ = in.number<std::int64_t>();
    loaded.newest_day_ = in.number<std::int64_t>();
    const auto is_hour = [](std::int64_t hour) { return hour >= 0 && hour <= hour_max; };
    if (!is_hour(loaded.newest_hour_) || !is_hour(loaded.newest_day_)) in.fail();
    std::size_t parts = 0;
    for (std::uint64_t left = in.count(parts_max + wholes_max); left > 0 && in.good(); --left) {
        std::string key = in.text();
        if (!is_demand_key(key) || key.size() > key_bytes_max) in.fail();
        kept budget;
        for (std::uint64_t& each : budget.hours) each = in.number<std::uint64_t>();
        for (std::uint64_t& each : budget.days) each = in.number<std::uint64_t>();
        if (version == with_active)
            for (std::uint64_t& each : budget.active) each = in.number<std::uint64_t>();
        if (!in.good()) return false;
        parts += is_part(key) ? 1 : 0;
        if (!loaded.budgets_.emplace(std::move(key), budget).second) in.fail();
    }
    if (parts > parts_max || loaded.budgets_.size() - parts > wholes_max) in.fail();
    if (!in.good()) return false;
    *this = std::move(loaded);
    return true;
}

}  // namespace seriesgate
