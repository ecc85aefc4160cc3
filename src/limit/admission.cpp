// The way of every series that is known, and of those that were refused lately: no lock. What is new: commit.cpp.
#include "limit/admission.hpp"

#include <algorithm>
#include <cassert>

#include "limit/select.hpp"
#include "limit/verdicts.hpp"

namespace seriesgate {
namespace {

/// 2^19 series, 4 MiB: an explosion of that many distinct series is refused without the lock.
constexpr unsigned refused_capacity_log2 = 19;

constexpr std::size_t prefetch_distance = admitted_set::prefetch_distance;

}  // namespace

admission::admission(const limit_settings& settings, time_point now)
    : key_(settings.key),
      false_positive_rate_(settings.false_positive_rate),
      incumbent_grace_(settings.incumbent_grace),
      refused_(refused_capacity_log2),
      counts_{.book = budget_book{rules_of(settings), key_}, .hourly = {}, .daily = {}},
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

void admission::decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                       admission_scratch& scratch, const request_origin& origin) {
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
    if (!scratch.pending.empty()) recall(offered, verdicts, scratch.pending);
    if (!scratch.pending.empty()) commit(offered, verdicts, scratch, origin);
    // After the others: an exemplar may stand before the sample that admits its series.
    if (!scratch.followers.empty()) follow(offered, verdicts, scratch, origin);
}

published<admission::windows>::reader admission::read_windows(time_point now) {
    if (!windows_.read()->cover(now)) advance(now);
    return windows_.read();
}

/// Decides about those that were refused lately, and takes them out of `pending`.
void admission::recall(std::span<const offered_series> offered, std::span<verdict> verdicts,
                       std::vector<std::uint32_t>& pending) {
    if (refused_.is_empty()) return;
    std::uint64_t samples_refused_hourly = 0;
    std::uint64_t samples_refused_daily = 0;
    std::erase_if(pending, [&](std::uint32_t i) {
        const auto known = refused_.lookup(offered[i].fingerprint);
        if (known == refused_cache::answer::unknown) return false;
        verdicts[i] = verdict_of(known);
        const bool by_hour = window_of(known) == refusing_window::hourly;
        (by_hour ? samples_refused_hourly : samples_refused_daily) += offered[i].samples;
        return true;
    });
    const auto count = [](refusals& of, std::uint64_t samples) {
        if (samples != 0) of.samples.fetch_add(samples, std::memory_order_relaxed);
    };
    count(counts_.hourly, samples_refused_hourly);
    count(counts_.daily, samples_refused_daily);
}

/// Stale markers and exemplars without samples: they pass if the series is known or nothing limits it, and never admit.
void admission::follow(std::span<const offered_series> offered, std::span<verdict> verdicts, admission_scratch& scratch,
                       const request_origin& origin) const {
    const auto current = windows_.read();
    std::erase_if(scratch.followers, [&](std::uint32_t i) {
        const std::uint64_t fingerprint = offered[i].fingerprint;
        const bool known = current->knows(fingerprint);
        verdicts[i] = known ? verdict::accepted : verdict::refused_unknown;
        // What was refused lately is limited: no need to look at its labels.
        return known || refused_.lookup(fingerprint) != refused_cache::answer::unknown;
    });
    select(*current->rules, scratch.followers, origin, scratch.selections);
    for (std::size_t i = 0; i < scratch.followers.size(); ++i)
        if (!is_limited(*current->rules, origin.tenant, scratch.selections[i]))
            verdicts[scratch.followers[i]] = verdict::accepted;
}

}  // namespace seriesgate
