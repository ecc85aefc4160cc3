#include "demand/demand_history.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "demand/demand_key.hpp"

namespace seriesgate {
namespace {

constexpr std::uint8_t format_version = 1;
/// A bound for damage: the year 2200.
constexpr std::int64_t hour_max = 2'016'000;

std::int64_t hour_number(std::chrono::sys_seconds start) {
    return std::chrono::floor<std::chrono::hours>(start).time_since_epoch().count();
}

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

template <class Ring>
void load_ring(state_decoder& in, Ring& ring) {
    for (std::uint64_t& each : ring) each = in.number<std::uint64_t>();
}

}  // namespace

std::uint64_t demand_history::kept::peak() const noexcept {
    return std::max(std::ranges::max(hours), std::ranges::max(days));
}

/// Where a window stands in the rings. One that is newer than all pushes out the oldest; so does one that is older than
/// all that are kept, since a clock was wrong then.
template <class Ring>
std::size_t demand_history::place_of(std::int64_t window, std::int64_t& newest, Ring kept::*ring) {
    constexpr auto count = static_cast<std::int64_t>(std::tuple_size_v<Ring>);
    assert(window >= 0);
    const bool is_older = window <= newest - count;
    const std::int64_t passed = is_older ? count : std::clamp<std::int64_t>(window - newest, 0, count);
    for (std::int64_t i = 0; i < passed; ++i) {
        const auto place = static_cast<std::size_t>((window - i) % count + count) % static_cast<std::size_t>(count);
        for (auto& [key, budget] : budgets_) (budget.*ring)[place] = 0;
    }
    if (passed > 0) newest = window;
    return static_cast<std::size_t>(window % count);
}

void demand_history::add(std::span<const ended_budget> ended) {
    for (const ended_budget& each : ended) {
        std::string key = demand_key(each.scope, each.name);
        if (key.size() > key_bytes_max) continue;
        const auto at = budgets_.try_emplace(std::move(key)).first;
        const auto raise = [](auto& ring, std::size_t place, std::uint64_t series) {
            ring[place] = std::max(ring[place], series);
        };
        if (each.hour) {
            const std::size_t place = place_of(hour_number(each.hour->start), newest_hour_, &kept::hours);
            raise(at->second.hours, place, each.hour->series);
        }
        if (each.day) {
            const std::size_t place = place_of(day_number(each.day->start), newest_day_, &kept::days);
            raise(at->second.days, place, each.day->series);
        }
    }
    trim(true, parts_max);
    trim(false, wholes_max);
}

void demand_history::advance(std::chrono::sys_seconds hour, std::chrono::sys_seconds day) {
    place_of(std::max<std::int64_t>(hour_number(hour) - 1, 0), newest_hour_, &kept::hours);
    place_of(std::max<std::int64_t>(day_number(day) - 1, 0), newest_day_, &kept::days);
}

/// Drops those without demand, and of too many those with the lowest peaks.
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
    return {.hourly = past_of(found->second.hours), .daily = past_of(found->second.days)};
}

void demand_history::save(state_encoder& out) const {
    out.number(format_version);
    out.number(newest_hour_);
    out.number(newest_day_);
    out.number(static_cast<std::uint64_t>(budgets_.size()));
    for (const auto& [key, budget] : budgets_) {
        out.text(key);
        for (const std::uint64_t each : budget.hours) out.number(each);
        for (const std::uint64_t each : budget.days) out.number(each);
    }
}

bool demand_history::load(state_decoder& in) {
    if (in.number<std::uint8_t>() != format_version) in.fail();
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
        load_ring(in, budget.hours);
        load_ring(in, budget.days);
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
