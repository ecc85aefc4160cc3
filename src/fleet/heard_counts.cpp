#include "fleet/heard_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "fleet/store_keys.hpp"

namespace seriesgate {
namespace {

/// Of a window that a gate has only read of: should the store have to open it anew. For 1,048,576 series, as claim.lua
/// makes those whose room is not known.
constexpr std::uint32_t buckets_unknown = 4'096;

}  // namespace

void heard_counts::hear(const claim& asked, const claim_terms& terms, const claim_answer& said) {
    const std::scoped_lock held{lock_};
    if (day_of_hour(said.windows.hour) < day_of_hour(hour_)) return;
    const bool is_over = said.windows.hour < hour_;  // the feed was faster: its day's counts count all the same
    if (said.windows.hour > hour_) begin_hour(said.windows.hour);
    if (!is_over) {
        rules_ = terms.rules;
        buckets_ = said.windows.buckets;
    }
    for (std::size_t i = 0; i < said.budgets.size(); ++i) {
        const claimed_budget& budget = asked.budgets[i];
        const budget_answer& is = said.budgets[i];
        const std::uint64_t hourly = is_over ? 0 : is.hourly;
        if (hourly == 0 && is.daily == 0) continue;
        take({.id = is.shares ? budget.overflow_id : budget.id,
              .hourly = hourly,
              .daily = is.daily,
              .limit_budgets = is.shares ? 0 : budget.limit_budgets});
    }
}

void heard_counts::begin_hour(std::int64_t hour) {
    const bool same_day = day_of_hour(hour) == day_of_hour(hour_);
    hour_ = hour;
    ++revision_;
    for (auto each = budgets_.begin(); each != budgets_.end();) {
        each->second.counts.hourly = 0;
        each = same_day && each->second.counts.daily != 0 ? std::next(each) : budgets_.erase(each);
    }
}

void heard_counts::take(const offered_budget& counts) {
    entry& known = budgets_[counts.id];
    const bool is_more = counts.hourly > known.counts.hourly || counts.daily > known.counts.daily;
    const bool has_its_place =
        counts.limit_budgets == known.counts.limit_budgets;  // the feed has none, and may come before an answer
    if (known.changed != 0 && !is_more && has_its_place) return;
    known = {.counts = {.id = counts.id,
                        .hourly = std::max(counts.hourly, known.counts.hourly),
                        .daily = std::max(counts.daily, known.counts.daily),
                        .limit_budgets = counts.limit_budgets},
             .changed = ++revision_};
}

void heard_counts::count_by(const claim_terms& terms) {
    const std::scoped_lock held{lock_};
    rules_ = terms.rules;
    with_day_ = terms.with_day;
}

void heard_counts::hear_counted(std::int64_t hour, std::span<const fed_count> hourly,
                                std::span<const fed_count> daily) {
    const std::scoped_lock held{lock_};
    if (day_of_hour(hour) < day_of_hour(hour_)) return;
    if (hour > hour_) begin_hour(hour);
    if (buckets_.hour == 0) buckets_.hour = buckets_unknown;
    if (buckets_.day == 0 && !daily.empty()) buckets_.day = buckets_unknown;
    if (hour == hour_)
        for (const fed_count& each : hourly) raise({.id = each.id, .hourly = each.series});
    for (const fed_count& each : daily) raise({.id = each.id, .daily = each.series});
}

void heard_counts::raise(offered_budget counts) {
    const auto known = budgets_.find(counts.id);
    if (known == budgets_.end() && budgets_.size() >= fed_max) return;
    if (known != budgets_.end()) counts.limit_budgets = known->second.counts.limit_budgets;
    take(counts);
}

void heard_counts::hear_fed(std::int64_t hour, std::span<const fed_count> hourly, std::span<const fed_count> daily) {
    const std::scoped_lock held{lock_};
    if (hour < fed_hour_) return;
    if (hour > fed_hour_) fed_.clear();
    fed_hour_ = hour;
    for (const fed_count& each : hourly)
        if (known_count* const of = fed_of(each.id)) of->hourly = std::max(of->hourly, each.series);
    for (const fed_count& each : daily)
        if (known_count* const of = fed_of(each.id)) of->daily = std::max(of->daily, each.series);
}

known_count* heard_counts::fed_of(std::uint64_t id) {
    if (fed_.size() >= fed_max && !fed_.contains(id)) return nullptr;
    return &fed_[id];
}

known_count heard_counts::fed(std::int64_t hour, std::uint64_t id) const {
    const std::scoped_lock held{lock_};
    const auto known = hour == fed_hour_ ? fed_.find(id) : fed_.end();
    return known == fed_.end() ? known_count{} : known->second;
}

bool heard_counts::has_place(std::uint64_t id, std::int64_t hour) const {
    const std::scoped_lock held{lock_};
    return hour == hour_ && budgets_.contains(id);
}

std::size_t heard_counts::size() const {
    const std::scoped_lock held{lock_};
    return budgets_.size();
}

count_offer heard_counts::grown_since(std::uint64_t revision) const {
    const std::scoped_lock held{lock_};
    count_offer made{.hour = hour_, .rules = rules_, .buckets = buckets_, .budgets = {}, .revision = revision_};
    if (made.buckets.day == 0 && with_day_) made.buckets.day = buckets_unknown;
    for (const auto& [id, each] : budgets_)
        if (each.changed > revision) made.budgets.push_back(each.counts);
    return made;
}

}  // namespace seriesgate
