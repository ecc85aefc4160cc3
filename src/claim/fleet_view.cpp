#include "claim/fleet_view.hpp"

#include <algorithm>
#include <iterator>

#include "claim/fleet_rules.hpp"
#include "limit/budget_table.hpp"
#include "limit/learning.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

bool is_days_first(std::int64_t hour) noexcept {
    return day_of_hour(hour) * 24 == hour;
}

}  // namespace

open_windows fleet_view::windows() const {
    const std::scoped_lock held{lock_};
    return windows_;
}

std::string fleet_view::epoch() const {
    const std::scoped_lock held{lock_};
    return epoch_;
}

void fleet_view::describe(gate_terms& into) const {
    const std::scoped_lock held{lock_};
    into.epoch = epoch_;
    into.generation = windows_.generation;
    into.buckets = into.hour == windows_.hour ? windows_.buckets : bucket_counts{};
}

void fleet_view::hear(const open_windows& open) {
    const std::scoped_lock held{lock_};
    if (open.generation == windows_.generation && open.hour >= windows_.hour) move_to(open);
}

void fleet_view::begin(const std::string& epoch, const open_windows& open) {
    const std::scoped_lock held{lock_};
    const bool is_overtaken = open.generation == windows_.generation && open.hour < windows_.hour;
    if (epoch == epoch_ && is_overtaken) return;  // by a call's answer; no hour begins twice
    if (epoch != epoch_) {
        epoch_ = epoch;
        counts_.clear();
        knows_before_ = followed_before_ = follows_feed_ = false;
        are_counts_partial_ = true;
    }
    move_to(open);
}

void fleet_view::move_to(const open_windows& open) {
    const bool follows = open.generation == windows_.generation && open.hour == windows_.hour + 1;
    if (open.generation == windows_.generation && open.hour == windows_.hour) {
        windows_ = open;
        return;
    }
    const bool same_day = day_of_hour(open.hour) == day_of_hour(windows_.hour);
    followed_before_ = follows && follows_feed_;
    knows_before_ = false;
    for (auto each = counts_.begin(); each != counts_.end();) {
        budget_counts& of = each->second;
        of = {.hourly = 0, .daily = same_day ? of.daily : 0, .before = follows ? of.hourly : 0, .kept = {}, .fed = 0};
        each = of == budget_counts{} ? counts_.erase(each) : std::next(each);
    }
    if (!same_day) alone_.clear();
    for (auto& [id, of] : alone_) of.hourly = 0;
    gates_most_ = gates_;
    windows_ = open;
}

void fleet_view::hear_gates(std::size_t alive) {
    const std::scoped_lock held{lock_};
    gates_ = std::max<std::size_t>(1, alive);
    gates_most_ = std::max(gates_most_, gates_);
}

fleet_view::budget_counts* fleet_view::find_or_make(std::uint64_t id) {
    const auto known = counts_.find(id);
    if (known != counts_.end()) return &known->second;
    return counts_.size() < counts_max ? &counts_[id] : nullptr;
}

void fleet_view::hear(const store_call& asked, const store_answer& said) {
    const std::scoped_lock held{lock_};
    if (are_counts_partial_) return;
    if (said.windows.generation != windows_.generation || said.windows.hour != windows_.hour) return;
    for (std::size_t i = 0; i < said.budgets.size(); ++i) {
        const budget_in_store& is = said.budgets[i];
        budget_counts* const of = find_or_make(is.is_overflow ? asked.budgets[i].overflow_id : asked.budgets[i].id);
        if (of == nullptr) continue;
        of->hourly = std::max(of->hourly, is.hourly);
        of->daily = std::max(of->daily, is.daily);
        of->kept = is.kept;
    }
}

void fleet_view::hear(const fed_call& said) {
    const std::scoped_lock held{lock_};
    if (are_counts_partial_) return;
    for (const fed_budget& each : said.budgets) {
        budget_counts* const of = find_or_make(each.id);
        if (of == nullptr) continue;
        if (said.hour == windows_.hour) {
            of->hourly = std::max(of->hourly, each.hourly);
            of->fed = std::max(of->fed, each.hourly);
            of->before = std::max(of->before, each.before);
        } else if (said.hour + 1 == windows_.hour) {
            of->before = std::max(of->before, each.hourly);
        }
        if (day_of_hour(said.hour) == day_of_hour(windows_.hour)) of->daily = std::max(of->daily, each.daily);
    }
}

void fleet_view::hear_record(std::span<const std::pair<std::uint64_t, std::uint64_t>> counts, std::int64_t hour,
                             std::uint64_t budget_counts::*window) {
    const std::scoped_lock held{lock_};
    if (hour != windows_.hour) return;
    for (const auto& [id, series] : counts)
        if (budget_counts* const of = find_or_make(id)) of->*window = std::max(of->*window, series);
    if (window == &budget_counts::before) knows_before_ = counts_.size() < counts_max;
}

bool fleet_view::knows_hour_before() const {
    const std::scoped_lock held{lock_};
    return knows_before_;
}

void fleet_view::follows_feed(bool all) {
    const std::scoped_lock held{lock_};
    follows_feed_ = all && counts_.size() < counts_max;
    if (!follows_feed_) followed_before_ = false;
    knows_before_ = knows_before_ || followed_before_;
}

std::optional<fleet_view::budget_counts> fleet_view::counts_of(std::uint64_t id) const {
    const std::scoped_lock held{lock_};
    const auto known = counts_.find(id);
    return known == counts_.end() ? std::nullopt : std::optional{known->second};
}

over_full fleet_view::is_over_full(const shared_budget& of, std::int64_t hour) const {
    const std::scoped_lock held{lock_};
    if (!knows_before_ || hour != windows_.hour) return over_full::unknown;
    const auto exceeds = [&](std::uint64_t id, const series_maxima& maxima) {
        const auto known = counts_.find(id);
        if (known == counts_.end()) return false;
        const std::uint64_t before = known->second.before;
        return (maxima.hourly != 0 && before > maxima.hourly) ||
               (maxima.daily != 0 && is_days_first(hour) && before > maxima.daily);
    };
    const bool exceeds_any =
        exceeds(of.id, of.maxima) || (of.group_set != 0 && exceeds(of.overflow_id, of.overflow_maxima));
    return exceeds_any ? over_full::yes : over_full::no;
}

// --- Without the store.

/// @return nothing if nothing was heard of it.
std::optional<fleet_view::in_hour_and_day> fleet_view::room_alone(const shared_budget& of) const {
    const auto known = counts_.find(of.id);
    if (known == counts_.end()) return std::nullopt;
    const budget_counts& is = known->second;
    std::uint64_t kept = 0;
    if (windows_.keeps_places) {
        if (!is.kept && !knows_before_) return std::nullopt;
        kept = is.kept ? *is.kept : is.before;
    }
    const auto part = [&](std::uint64_t maximum, std::uint64_t counted, std::uint64_t kept_there) {
        if (maximum == 0) return ~std::uint64_t{0};
        const std::uint64_t left = maximum - std::min(maximum, counted);
        return (left - std::min(left, kept_there)) / gates_most_;
    };
    return in_hour_and_day{.hourly = part(of.maxima.hourly, is.hourly, kept),
                           .daily = part(of.maxima.daily, is.daily, is_days_first(windows_.hour) ? kept : 0)};
}

bool fleet_view::admits_alone(std::span<const shared_budget* const> budgets, std::int64_t hour) {
    const std::scoped_lock held{lock_};
    if (hour != windows_.hour) return false;
    for (const shared_budget* const each : budgets) {
        if (!each->maxima.limit() && !each->overflow_maxima.limit()) continue;  // observed
        const auto left = room_alone(*each);
        if (!left) return false;
        const auto used = alone_.find(each->id);
        const in_hour_and_day so_far = used == alone_.end() ? in_hour_and_day{} : used->second;
        if (so_far.hourly >= left->hourly || so_far.daily >= left->daily) return false;
        if (used == alone_.end() && alone_.size() + budgets.size() > counts_max) return false;
    }
    for (const shared_budget* const each : budgets) {
        if (alone_.size() >= counts_max && !alone_.contains(each->id)) continue;  // observed, see above
        in_hour_and_day& of = alone_[each->id];
        ++of.hourly;
        ++of.daily;
    }
    return true;
}

// --- Series of the hour before.

fleet_view::ticket fleet_view::accept(std::int64_t hour) noexcept {
    ticket made = ticket_of(accepting_);
    if (told_hour_.load() == hour) return {};
    return made;
}

bool fleet_view::say_told(std::int64_t hour, const std::function<bool()>& is_clean) {
    // A request that began to accept before this store() is counted; one that begins after it sees the hour.
    const std::int64_t before = told_hour_.exchange(hour);
    try {
        if (accepting_.load() == 0 && is_clean()) return true;
    } catch (...) {
        told_hour_.store(before);
        throw;
    }
    told_hour_.store(before);
    return false;
}

// --- Figures.

void show_heard_counts(series_limiter& limiter, const fleet_view& view, fleet_rules& rules) {
    rules.use(limiter.rules());
    const open_windows open = view.windows();
    const auto counts_of = [&](const budget_pair& pair) -> std::optional<fleet_counts> {
        if (!rules.budget_of(pair.role, pair.key)) return std::nullopt;
        const auto heard = view.counts_of(rules.id_of(pair.role, pair.key));
        if (!heard) return std::nullopt;
        return fleet_counts{
            .hourly = heard->hourly, .daily = heard->daily, .kept = open.keeps_places ? heard->kept.value_or(0) : 0};
    };
    if (open.hour < 0) return;
    show_counts(limiter, hour_of(time_point{std::chrono::hours{open.hour}}), *rules.rules(), counts_of);
}

}  // namespace seriesgate
