#include "claim/untold_walker.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

/// The budgets of a call, each once.
struct call_budgets {
    std::unordered_map<std::uint64_t, std::uint8_t> places{};

    /// @return nothing if the call has no room for all of them.
    std::optional<std::vector<std::uint8_t>> add(const std::vector<shared_budget>& all, store_call& to) {
        const auto new_ones =
            std::ranges::count_if(all, [this](const auto& each) { return !places.contains(each.id); });
        if (to.budgets.size() + static_cast<std::size_t>(new_ones) > call_budgets_max) return std::nullopt;
        std::vector<std::uint8_t> named;
        for (const shared_budget& each : all) {
            const auto [at, is_new] = places.try_emplace(each.id, static_cast<std::uint8_t>(to.budgets.size()));
            if (is_new) to.budgets.push_back(each);
            if (std::ranges::find(named, at->second) == named.end()) named.push_back(at->second);
        }
        return named;
    }
};

}  // namespace

std::optional<store_call> untold_walker::next() {
    for (;;) {
        if (at_ == found_.size() && !(refills_ ? find_for_refill() : find())) return std::nullopt;
        const auto some = std::span{found_}.subspan(at_, std::min(call_series_max, found_.size() - at_));
        under_way_ = seriesgate::describe(*limiter_, some, refills_ ? tell_kind::refills : tell_kind::untold);
        rules_.use(under_way_.rules);
        std::size_t told = 0;
        store_call made = call_of(under_way_, told);
        // What did not fit stays in the table, marked; of a refill it is looked at again.
        taken_ = told == under_way_.all.size() ? some.size() : 0;
        if (taken_ == 0) {
            // The others come first next time.
            const auto is_in_call = [&](std::uint64_t each) {
                const auto first = under_way_.all.begin();
                return std::any_of(first, first + static_cast<std::ptrdiff_t>(told),
                                   [each](const auto& one) { return one.fingerprint == each; });
            };
            const auto begin = found_.begin() + static_cast<std::ptrdiff_t>(at_);
            const auto end = begin + static_cast<std::ptrdiff_t>(some.size());
            taken_ = static_cast<std::size_t>(std::stable_partition(begin, end, is_in_call) - begin);
            under_way_.all.resize(told);
        }
        if (!made.fingerprints.empty()) return made;
        is_told();  // the store counts none of them
    }
}

/// @param told gets how many series of those that stand first are in the call, or need not be.
store_call untold_walker::call_of(const telling& made, std::size_t& told) {
    store_call call{.kind = refills_ ? call_kind::refill : call_kind::pass};
    call_budgets named;
    std::optional<std::uint32_t> last;
    entered_windows last_windows;
    std::vector<std::uint8_t> budgets;
    for (const telling::series& each : made.all) {
        if (last != each.budgets) {
            std::vector<shared_budget> shared;
            for (const named_budget& one : made.budgets[each.budgets])
                if (auto counted = rules_.budget_of(one.role, one.key)) shared.push_back(*counted);
            auto places = named.add(shared, call);
            if (!places) return call;
            budgets = std::move(*places);
        }
        entered_windows windows = each.windows;
        windows.day = windows.day && rules_.with_day();
        if (!budgets.empty() && windows.any()) {
            if (call.runs.empty() || last != each.budgets || windows != last_windows)
                call.runs.push_back({.series = 0, .budgets = budgets, .windows = windows});
            ++call.runs.back().series;
            call.fingerprints.push_back(each.fingerprint);
            last_windows = windows;
        }
        last = each.budgets;
        ++told;
    }
    return call;
}

void untold_walker::describe(gate_terms& into) const {
    rules_.describe(into);
    into.hour = hour_number(under_way_.hour.start);
}

void untold_walker::is_told() {
    mark_told(*limiter_, under_way_);
    at_ += std::exchange(taken_, 0);
    ++progress_;
    if (refills_) ++drain_calls_;
    if (drains_ && --drain_calls_ == 0) drains_ = false;
}

/// @return whether there is something to tell.
bool untold_walker::find() {
    found_.clear();
    at_ = 0;
    room_.clear();
    room_.reserve(untold_notes::count_max);
    if (take_untold(*limiter_, room_)) {
        searches_ = true;
        next_ = 0;
    }
    found_.swap(room_);
    // At least one part each time, for there may be notes each time.
    do searches_ = searches_ && find_untold(*limiter_, next_, found_);
    while (found_.empty() && searches_);
    std::sort(found_.begin(), found_.end());  // one may have been noted several times
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    if (!searches_) next_ = 0;
    if (found_.empty()) drains_ = false;
    return !found_.empty();
}

bool untold_walker::find_for_refill() {
    found_.clear();
    at_ = 0;
    while (found_.empty()) {
        if (has_wrapped_ && next_ >= first_) {
            refills_ = false;
            drains_ = searches_ = true;
            next_ = 0;
            return find();
        }
        const bool has_more = find_counted(*limiter_, next_, found_);
        if (has_more) continue;
        if (has_wrapped_ || first_ == 0) first_ = 0;  // all has been seen
        has_wrapped_ = true;
        next_ = 0;
    }
    std::ranges::sort(found_);  // so that the series of a bucket of the store are in one call
    return true;
}

void untold_walker::refill(double place) {
    refills_ = true;
    drains_ = false;
    drain_calls_ = drain_calls_min;
    found_.clear();
    at_ = taken_ = 0;
    under_way_ = {};  // an answer that still comes is from before the loss
    constexpr double all = 18446744073709551616.0;
    first_ = next_ = static_cast<std::uint64_t>(std::clamp(place, 0.0, 0.999) * all);
    has_wrapped_ = false;
    ++progress_;
}

bool untold_walker::is_clean() {
    if (refills_ || at_ != found_.size()) return false;
    return !find();
}

}  // namespace seriesgate
