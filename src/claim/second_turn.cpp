// Where histograms are kept whole: what is asked about first, what afterwards, and what not at all.
#include <cassert>
#include <utility>

#include "claim/questions.hpp"

namespace seriesgate {

/// @return nothing if its histogram is refused, and it with that.
std::optional<questions::turn> questions::turn_of(std::uint32_t at, const known_histograms& histograms) const {
    const histogram_family family = family_at(at);
    if (!family || !histograms.has_begun) return turn::first;
    if (histograms.has_begun(family.fingerprint)) return turn::begun;
    const bool is_refused = histograms.is_refused(family.fingerprint);
    if ((!is_refused && !family.is_total) || histograms.is_incumbent(fingerprint_at(at))) return turn::first;
    return is_refused ? std::nullopt : std::optional{turn::second};
}

bool questions::ask_rest(std::span<const std::optional<claim_answer>> answers) {
    if (!std::exchange(has_rest_, false)) return false;
    const fates by_family = fates_of(answers);
    claims_closed_ = claims_.size();
    late_groups_.reserve(groups_.size());  // so that they stay where they are
    for (group& each : groups_)
        if (each.when == turn::second) ask_late(each, by_family);
    return true;
}

/// Of the histograms that were part of the first turn.
questions::fates questions::fates_of(std::span<const std::optional<claim_answer>> answers) const {
    assert(answers.size() == claims_.size());
    fates found;
    const auto note_refused = [&](std::uint32_t at, refusing_window window) {
        histogram_fate& of = found[family_at(at).fingerprint];
        if (!of.like.like) of.like = {.at = at, .like = at, .window = window};
    };
    for (std::size_t i = 0; i < claims_.size(); ++i) {
        std::size_t next = 0;
        for (std::size_t run = 0; run < claims_[i].runs.size() && answers[i]; ++run) {
            const asked_run& as = runs_[i][run];
            for (std::uint32_t in_run = 0; in_run < claims_[i].runs[run].series; ++in_run) {
                const series_answer& said = answers[i]->series[next++];
                if (as.of == nullptr || !family_at(as.of->series[as.first + in_run])) continue;
                const std::uint32_t at = as.of->series[as.first + in_run];
                if (said.outcome == claim_outcome::refused)
                    note_refused(at, said.window);
                else
                    found[family_at(at).fingerprint].is_accepted = true;
            }
        }
    }
    for (const group& each : groups_)
        if (each.spent_place && each.when == turn::first)
            for (const std::uint32_t at : each.series)
                if (family_at(at)) note_refused(at, refusing_window::hourly);
    return found;
}

/// @param of keeps those that are refused because a budget of theirs is known to be spent.
void questions::ask_late(group& of, const fates& by_family) {
    group asked{.when = turn::second, .budgets = of.budgets, .series = {}};
    std::vector<std::uint32_t> spent;
    for (const std::uint32_t at : of.series) {
        const auto found = by_family.find(family_at(at).fingerprint);
        const histogram_fate fate = found == by_family.end() ? histogram_fate{} : found->second;
        if (!fate.is_accepted && fate.like.like) {
            refused_.push_back({.at = at, .like = fate.like.like, .window = fate.like.window});
            ++unasked_count_;
        } else if (!fate.is_accepted && of.spent_place) {
            spent.push_back(at);
        } else {
            asked.series.push_back(at);
        }
    }
    of.series = std::move(spent);
    leave_unasked(of);
    const group& late = late_groups_.emplace_back(std::move(asked));
    add_runs(&late, late.budgets, late.series, open_->pending);
}

void questions::tell_refused(const second_opinion& besides, told& into) const {
    for (const refused_one& each : refused_) {
        told_series& one = into.pending[each.at];
        one = {.outcome = told_outcome::refused_with_histogram, .window = each.window, .like = each.like};
        if (!besides) continue;
        if (const auto said = besides(fingerprint_at(each.at), {}, true)) one.outcome = *said;
    }
}

}  // namespace seriesgate
