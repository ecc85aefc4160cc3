#include "fleet/heard_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "fleet/store_keys.hpp"

namespace seriesgate {

void heard_counts::hear(const claim& asked, const claim_terms& terms, const claim_answer& said) {
    const std::scoped_lock held{lock_};
    if (said.windows.hour < hour_) return;
    if (said.windows.hour > hour_) begin_hour(said.windows.hour);
    rules_ = terms.rules;
    buckets_ = said.windows.buckets;
    for (std::size_t i = 0; i < said.budgets.size(); ++i) {
        const claimed_budget& budget = asked.budgets[i];
        const budget_answer& is = said.budgets[i];
        if (is.hourly == 0 && is.daily == 0) continue;
        take({.id = is.shares ? budget.overflow_id : budget.id,
              .hourly = is.hourly,
              .daily = is.daily,
              .shelf = is.shares ? 0 : budget.shelf});
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
    if (known.changed != 0 && counts.hourly <= known.counts.hourly && counts.daily <= known.counts.daily) return;
    known = {.counts = {.id = counts.id,
                        .hourly = std::max(counts.hourly, known.counts.hourly),
                        .daily = std::max(counts.daily, known.counts.daily),
                        .shelf = counts.shelf},
             .changed = ++revision_};
}

bool heard_counts::has_place(std::uint64_t id, std::int64_t hour) const {
    const std::scoped_lock held{lock_};
    return hour == hour_ && budgets_.contains(id);
}

count_offer heard_counts::grown_since(std::uint64_t revision) const {
    const std::scoped_lock held{lock_};
    count_offer made{.hour = hour_, .rules = rules_, .buckets = buckets_, .budgets = {}, .revision = revision_};
    for (const auto& [id, each] : budgets_)
        if (each.changed > revision) made.budgets.push_back(each.counts);
    return made;
}

}  // namespace seriesgate
