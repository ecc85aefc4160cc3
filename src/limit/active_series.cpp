#include "limit/active_series.hpp"

#include <cassert>
#include <limits>
#include <new>
#include <utility>

namespace seriesgate {

// --- Combinations.

active_series::budget_number active_series::open_budget() {
    if (free_budgets_.empty()) {
        free_budgets_.reserve(budgets_.size() + 1);  // for close_budget()
        budgets_.emplace_back();
        free_budgets_.push_back(static_cast<budget_number>(budgets_.size()));
    }
    const budget_number opened = free_budgets_.back();
    free_budgets_.pop_back();
    budgets_[opened - 1] = {.users = 1};
    return opened;
}

void active_series::close_budget(budget_number budget) noexcept {
    assert(budget != 0);
    if (--budgets_[budget - 1].users == 0) free_budgets_.push_back(budget);
}

std::uint32_t active_series::hash_of(budget_list budgets) const noexcept {
    const auto bytes = std::as_bytes(budgets);
    return static_cast<std::uint32_t>(key_({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

std::size_t active_series::bucket_of(std::uint32_t hash) const noexcept {
    const std::size_t wide = hash & bucket_mask_;
    return wide < buckets_.size() ? wide : hash & (bucket_mask_ >> 1);
}

combination_number active_series::find(budget_list budgets, std::uint32_t hash) const noexcept {
    combination_number found = buckets_[bucket_of(hash)];
    while (found != 0 && (at(found).hash != hash || !std::ranges::equal(budgets_of(found), budgets)))
        found = at(found).next;
    return found;
}

combination_number active_series::join(budget_list budgets, combination_number before) {
    assert(!budgets.empty() && std::ranges::count(budgets, 0u) == 0);
    const std::uint32_t hash = hash_of(budgets);
    combination_number joined = find(budgets, hash);
    if (joined == 0) joined = make(budgets, hash);
    ++at(joined).series;  // first, so that it is not freed if it is the same
    leave(before);
    for (const budget_number each : budgets) {
        budget_entry& counted = budgets_[each - 1];
        counted.peak = std::max(counted.peak, ++counted.series);
    }
    return joined;
}

combination_number active_series::make(budget_list budgets, std::uint32_t hash) {
    auto list = std::make_unique<budget_number[]>(budgets.size());
    std::ranges::copy(budgets, list.get());
    if (used_ >= buckets_.size()) split_bucket();
    if (free_ == 0) {
        if (combinations_.size() == series_mark::combination_max) throw std::bad_alloc{};
        combinations_.emplace_back();
        free_ = last_number();
    }
    const combination_number made = free_;
    combination_entry& entry = at(made);
    free_ = entry.next;
    combination_number& bucket = buckets_[bucket_of(hash)];
    entry = {.budgets = std::move(list),
             .size = static_cast<std::uint32_t>(budgets.size()),
             .hash = hash,
             .next = std::exchange(bucket, made)};
    for (const budget_number each : budgets) ++budgets_[each - 1].users;
    ++used_;
    lists_ += budgets.size();
    return made;
}

/// Adds a bucket, which takes its combinations from the one that it was part of.
void active_series::split_bucket() {
    if (buckets_.size() == std::size_t{1} << 31) return;
    buckets_.push_back(0);
    const std::size_t added = buckets_.size() - 1;
    if (added > bucket_mask_) bucket_mask_ = bucket_mask_ * 2 + 1;
    combination_number next = std::exchange(buckets_[added & (bucket_mask_ >> 1)], 0);
    while (next != 0) {
        const combination_number moved = next;
        next = at(moved).next;
        at(moved).next = std::exchange(buckets_[bucket_of(at(moved).hash)], moved);
    }
}

void active_series::leave(combination_number combination) noexcept {
    if (combination == 0) return;
    for (const budget_number each : budgets_of(combination)) {
        assert(budgets_[each - 1].series > 0);
        --budgets_[each - 1].series;
    }
    assert(at(combination).series > 0);
    if (--at(combination).series != 0) return;
    unlink(combination);
    --used_;
    if (keeps_)
        at(combination).next = std::exchange(kept_, combination);
    else
        free(combination);
}

void active_series::unlink(combination_number combination) noexcept {
    combination_number* link = &buckets_[bucket_of(at(combination).hash)];
    while (*link != combination) link = &at(*link).next;
    *link = at(combination).next;
}

void active_series::free(combination_number combination) noexcept {
    for (const budget_number each : budgets_of(combination)) close_budget(each);
    combination_entry& entry = at(combination);
    lists_ -= entry.size;
    entry = {.budgets = nullptr, .next = std::exchange(free_, combination)};
}

bool active_series::free_kept(std::size_t count) noexcept {
    keeps_ = false;
    for (; kept_ != 0 && count > 0; --count) free(std::exchange(kept_, at(kept_).next));
    return kept_ != 0;
}

active_series::budget_list active_series::budgets_of(combination_number combination) const noexcept {
    if (combination == 0 || combination > combinations_.size()) return {};
    return {at(combination).budgets.get(), at(combination).size};
}

std::size_t active_series::bytes() const noexcept {
    constexpr std::size_t allocation = 16;  // of each list, besides its numbers
    return combinations_.size() * sizeof(combination_entry) + used_ * allocation + lists_ * sizeof(budget_number) +
           buckets_.size() * sizeof(combination_number);
}

// --- Room.

void active_budget::set_max(std::uint64_t maximum, std::uint64_t margin, minute_number window) noexcept {
    max_ = maximum;
    margin_ = margin;
    const minute_number minutes = std::max<minute_number>(1, (window + parts_max - 1) / parts_max);
    const minute_number in_window = (window + minutes - 1) / minutes;
    if (minutes == part_minutes_ && in_window == parts_) return;
    part_minutes_ = minutes;
    parts_ = in_window;
    forget_newly_active();
}

std::uint64_t active_budget::newly_active(minute_number now) const noexcept {
    const std::uint64_t last =
        std::max(part_of(now), newest_);  // a clock that went back finds later newly active series
    std::uint64_t found = 0;
    for (std::uint64_t part = last - std::min<std::uint64_t>(last, parts_); part <= newest_; ++part)
        found += newly_active_[part % newly_active_.size()];
    return found;
}

void active_budget::take_newly_active(minute_number now) noexcept {
    const std::uint64_t part = std::max(part_of(now), newest_);
    for (std::uint64_t passed = std::max(newest_ + 1, part - std::min<std::uint64_t>(part, parts_max)); passed <= part;
         ++passed)
        newly_active_[passed % newly_active_.size()] = 0;
    newest_ = part;
    ++newly_active_[part % newly_active_.size()];
}

void active_budget::absorb(const active_budget& other) {
    refused_.merge(other.refused_);
    if (part_minutes_ != other.part_minutes_ || parts_ != other.parts_) return;  // of another window
    const std::uint64_t newest = std::max(newest_, other.newest_);
    counts merged{};
    for (const active_budget* from : {static_cast<const active_budget*>(this), &other})
        for (std::uint64_t part = newest - std::min<std::uint64_t>(newest, parts_max); part <= from->newest_; ++part)
            merged[part % merged.size()] += from->newly_active_[part % merged.size()];
    newest_ = newest;
    newly_active_ = merged;
}

void active_budget::save(state_encoder& out) const {
    out.numbers(number, part_minutes_, parts_, newest_);
    for (const std::uint64_t each : newly_active_) out.number(each);
    refused_.save(out);
}

void active_budget::load(state_decoder& in) {
    number = in.number<active_series::budget_number>();
    part_minutes_ = in.number<minute_number>();
    parts_ = in.number<minute_number>();
    newest_ = in.number<std::uint64_t>();
    if (newest_ > std::numeric_limits<minute_number>::max()) in.fail();  // no part is later than the last minute
    for (std::uint64_t& each : newly_active_) each = in.number<std::uint64_t>();
    refused_.load(in);
}

}  // namespace seriesgate
