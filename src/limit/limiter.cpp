// The way of every series that is known, and of those that were refused lately: no lock. What is new: commit.cpp.
#include "limit/limiter.hpp"

#include <algorithm>
#include <cassert>

#include "core/kept_memory.hpp"
#include "limit/verdicts.hpp"

namespace seriesgate {
namespace {

/// 2^19 series, 4 MiB: an explosion of that many distinct series is refused without the lock.
constexpr unsigned refused_capacity_log2 = 19;

constexpr std::size_t prefetch_distance = admitted_set::prefetch_distance;

}  // namespace

series_limiter::series_limiter(const limit_rules& rules, time_point now, const hash_key& key)
    : key_(key),
      false_positive_rate_(rules.false_positive_rate),
      incumbent_grace_(rules.incumbent_grace),
      refused_(refused_capacity_log2),
      counts_{.book = budget_book{std::make_shared<const compiled_rules>(rules), key_}, .hourly = {}, .daily = {}},
      windows_(std::make_unique<windows>(
          windows{.hour_span = hour_of(now),
                  .day_span = day_of(now),
                  .hour = make_set(0, capacities_of(*counts_.book.rules()).hourly),
                  .day = std::make_shared<day_set>(make_set(0, capacities_of(*counts_.book.rules()).daily)),
                  .previous_hour = {},
                  .previous_day = {},
                  .rules = counts_.book.rules(),
                  .grace_end = hour_of(now).start})) {
    prepare_spares(now);
}

void limiter_scratch::shrink() {
    give_back(pending);
    give_back(followers);
    selections.shrink();
    give_back(families);
    give_back(budgets);
}

bool series_limiter::decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                            limiter_scratch& scratch, const request_origin& origin) {
    assert(offered.size() == verdicts.size());
    scratch.pending.clear();
    scratch.followers.clear();
    {
        const auto current = read_windows(now);
        const admitted_set& hour = *current->hour;
        const bool any_refused = !refused_.is_empty();
        for (std::size_t i = 0; i < std::min(prefetch_distance, offered.size()); ++i)
            hour.prefetch(offered[i].fingerprint);

        for (std::size_t i = 0; i < offered.size(); ++i) {
            if (i + prefetch_distance < offered.size()) hour.prefetch(offered[i + prefetch_distance].fingerprint);
            const offered_series& series = offered[i];
            if (hour.contains(series.fingerprint)) {
                verdicts[i] = verdict::accepted;
                continue;
            }
            if (!series.admits) {
                scratch.followers.push_back(static_cast<std::uint32_t>(i));
                continue;
            }
            if (any_refused) refused_.prefetch(series.fingerprint);
            scratch.pending.push_back(static_cast<std::uint32_t>(i));
        }
    }
    const recalled_samples recalled = recall(offered, verdicts, scratch.pending);
    if (!scratch.pending.empty() && !commit(offered, verdicts, scratch, origin)) return false;
    if (recalled.hourly != 0) counts_.hourly.samples.fetch_add(recalled.hourly, std::memory_order_relaxed);
    if (recalled.daily != 0) counts_.daily.samples.fetch_add(recalled.daily, std::memory_order_relaxed);
    // After the others: an exemplar may stand before the sample that admits its series.
    if (!scratch.followers.empty()) follow(offered, verdicts, scratch, origin);
    return true;
}

published<series_limiter::windows>::reader series_limiter::read_windows(time_point now) {
    if (!windows_.read()->cover(now)) advance(now);
    return windows_.read();
}

/// Decides about those that were refused lately, and takes them out of `pending`.
series_limiter::recalled_samples series_limiter::recall(std::span<const offered_series> offered,
                                                        std::span<verdict> verdicts,
                                                        std::vector<std::uint32_t>& pending) const {
    recalled_samples recalled;
    if (pending.empty() || refused_.is_empty()) return recalled;
    std::erase_if(pending, [&](std::uint32_t i) {
        const auto known = refused_.lookup(offered[i].fingerprint);
        if (known == refused_cache::answer::unknown) return false;
        verdicts[i] = verdict_of(known);
        const bool by_hour = window_of(known) == refusing_window::hourly;
        (by_hour ? recalled.hourly : recalled.daily) += offered[i].samples;
        return true;
    });
    return recalled;
}

/// Stale markers and exemplars without samples: they pass if the series is known or nothing limits it, and never admit.
void series_limiter::follow(std::span<const offered_series> offered, std::span<verdict> verdicts,
                            limiter_scratch& scratch, const request_origin& origin) const {
    const auto current = windows_.read();
    std::erase_if(scratch.followers, [&](std::uint32_t i) {
        const std::uint64_t fingerprint = offered[i].fingerprint;
        const bool known = current->knows(fingerprint);
        verdicts[i] = known ? verdict::accepted : verdict::refused_unknown;
        // What was refused lately is limited: no need to look at its labels.
        return known || refused_.lookup(fingerprint) != refused_cache::answer::unknown;
    });
    const compiled_rules& rules = *current->rules;
    const bool look = rules.look_at_labels() && origin.labels != nullptr;
    rule_selections& selections = scratch.selections;
    selections.clear();
    for (const std::uint32_t entry : scratch.followers) {
        const auto labels = look ? origin.labels->labels(entry) : std::span<const label_view>{};
        // Beyond what a request may ask for they stay unknown.
        if (!selections.append(rules, origin.tenant, labels)) return;
        const rule_selections::one selection = selections[selections.size() - 1];
        if (!selections.spend(override_work(rules, selection))) return;
        if (!is_limited(rules, origin.tenant, selection)) verdicts[entry] = verdict::accepted;
    }
}

}  // namespace seriesgate
