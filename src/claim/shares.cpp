#include "claim/shares.hpp"

#include <algorithm>
#include <iterator>

namespace seriesgate {
namespace {

constexpr std::int64_t day_of(std::int64_t hour) noexcept {
    return hour / 24;
}

}  // namespace

void shares::grant(std::int64_t hour, share_state said) {
    const auto all = all_.lock();
    if (hour < all->hour) return;
    if (hour > all->hour) begin_hour(*all, hour);
    owed_count_.store(all->owed.size(), std::memory_order_relaxed);
    // What it had of this hour and this day it keeps: no other gate has been given that.
    if (said == share_state::of_hour || said == share_state::of_day) all->granted_hour = hour;
    if (said == share_state::of_day) all->granted_day = day_of(hour);
}

void shares::withdraw() {
    const auto all = all_.lock();
    all->granted_hour = all->granted_day = -1;
}

shares::entry shares::take(std::uint64_t fingerprint, std::span<const share_charge> charges, std::int64_t hour) {
    const auto all = all_.lock();
    if (hour != all->hour) return entry::refused;  // nothing has been granted in it
    if (all->owed.contains(fingerprint)) return entry::there;
    if (all->owed.size() >= series_max_) return entry::refused;
    if (!std::ranges::all_of(charges, [&](const share_charge& each) { return has_room(*all, each); }))
        return entry::refused;
    if (all->taken.size() + charges.size() > series_max_) return entry::refused;
    // Should memory run out midway, too much has been taken: too few pass, never too many.
    for (const share_charge& each : charges) {
        counts& of = all->taken[each.id];
        ++of.hourly;
        ++of.daily;
    }
    all->owed.insert(fingerprint);
    owed_count_.store(all->owed.size(), std::memory_order_relaxed);
    return entry::added;
}

bool shares::has_room(const commit_state& all, const share_charge& of) const {
    const auto found = all.taken.find(of.id);
    const counts taken = found == all.taken.end() ? counts{} : found->second;
    if (of.maxima.hourly != 0 && (all.granted_hour != all.hour || taken.hourly >= share_of(of.maxima.hourly, reserve_)))
        return false;
    return of.maxima.daily == 0 ||
           (all.granted_day == day_of(all.hour) && taken.daily < share_of(of.maxima.daily, reserve_));
}

bool shares::owes(std::uint64_t fingerprint, std::int64_t hour) const {
    if (owed() == 0) return false;
    const auto all = all_.lock();
    return hour == all->hour && all->owed.contains(fingerprint);
}

void shares::settle(std::int64_t hour, std::span<const offered_series> told) {
    const auto all = all_.lock();
    if (hour != all->hour) return;
    for (const offered_series& each : told) all->owed.erase(each.fingerprint);
    owed_count_.store(all->owed.size(), std::memory_order_relaxed);
}

bool shares::has_share(std::int64_t hour) const {
    const auto all = all_.lock();
    return all->hour == hour && all->granted_hour == hour;
}

/// What is owed of an hour that has ended is told to nobody: it was in that hour's shares, and comes again as new. The
/// day's share of it stays taken.
void shares::begin_hour(commit_state& all, std::int64_t hour) {
    const bool same_day = day_of(hour) == day_of(all.hour);
    all.hour = hour;
    all.owed.clear();
    for (auto each = all.taken.begin(); each != all.taken.end();) {
        each->second.hourly = 0;
        each = same_day ? std::next(each) : all.taken.erase(each);
    }
}

}  // namespace seriesgate
