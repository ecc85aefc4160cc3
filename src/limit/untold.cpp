#include "limit/untold.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/bytes.hpp"

namespace seriesgate {

std::size_t untold::bytes() const noexcept {
    return sizeof *this + tenant.capacity() + held_bytes(series) + held_bytes(open.pending) +
           held_bytes(open.refused_by) + held_bytes(open.families) + open.selections.bytes();
}

bool owes_any(const told& said) noexcept {
    return std::ranges::any_of(said.pending,
                               [](const told_series& each) { return each.outcome == told_outcome::owed; });
}

void set_aside_owed(std::span<const offered_series> offered, const lookup_result& open, const told& said,
                    untold& aside) {
    assert(said.pending.size() == open.pending.size());
    for (std::size_t at = 0; at < open.pending.size(); ++at) {
        if (said.pending[at].outcome != told_outcome::owed) continue;
        aside.open.pending.push_back(static_cast<std::uint32_t>(aside.series.size()));
        aside.series.push_back({.fingerprint = offered[open.pending[at]].fingerprint, .samples = 0, .admits = true});
        aside.open.selections.append(open.selections[at]);
        if (!open.families.empty()) aside.open.families.push_back(open.families[at]);
    }
    aside.open.hour = open.hour;
    aside.open.rules = open.rules;
    aside.open.refused_by.resize(aside.series.size());
    aside.owed = true;
}

void untold_series::accept(const window_span& hour, std::shared_ptr<const compiled_rules> rules) {
    set_kind gone;  // freed without the lock
    const auto all = all_.lock();
    if (all->hour != hour.start) all->series.swap(gone);
    all->hour = hour.start;
    all->rules = std::move(rules);
    all->accepts = true;
}

void untold_series::stop() {
    all_.lock()->accepts = false;
}

untold_series::entry untold_series::add(const window_span& hour, const compiled_rules& rules,
                                        std::uint64_t fingerprint) {
    const auto all = all_.lock();
    if (all->hour != hour.start) return entry::refused;
    if (all->series.contains(fingerprint)) return entry::there;
    if (!all->accepts || all->rules.get() != &rules || all->series.size() >= series_max_) return entry::refused;
    all->series.insert(fingerprint);
    return entry::added;
}

void untold_series::remove(const window_span& hour, std::span<const offered_series> told) {
    const auto all = all_.lock();
    if (all->hour != hour.start) return;
    for (const offered_series& each : told) all->series.erase(each.fingerprint);
}

std::size_t untold_series::strike(const window_span& hour, std::span<const std::uint64_t> fingerprints) {
    const auto all = all_.lock();
    if (all->hour != hour.start || all->series.empty()) return 0;
    std::size_t struck = 0;
    for (const std::uint64_t each : fingerprints) struck += all->series.erase(each);
    return struck;
}

void untold_series::keep_untold(untold& one) const {
    const auto all = all_.lock();
    if (all->hour != one.open.hour.start) return;
    const bool has_families = !one.open.families.empty();
    std::size_t left = 0;
    for (std::size_t at = 0; at < one.open.pending.size(); ++at) {
        const std::uint32_t i = one.open.pending[at];
        if (!all->series.contains(one.series[i].fingerprint)) continue;
        one.open.selections.move(at, left);
        if (has_families) one.open.families[left] = one.open.families[at];
        one.open.pending[left++] = i;
    }
    one.open.pending.resize(left);
    one.open.selections.truncate(left);
    if (has_families) one.open.families.resize(left);
}

std::size_t untold_series::size() const {
    return all_.lock()->series.size();
}

}  // namespace seriesgate
