#include "claim/questions.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include "claim/rule_terms.hpp"
#include "core/kept_memory.hpp"

namespace seriesgate {
namespace {

told_outcome outcome_of(claim_outcome said) {
    switch (said) {
        case claim_outcome::known:
            return told_outcome::known;
        case claim_outcome::taken:
            return told_outcome::taken;
        case claim_outcome::refused:
        case claim_outcome::unknown:
        case claim_outcome::count_:
            break;
    }
    return told_outcome::refused;
}

}  // namespace

void questions::start() noexcept {
    claims_.clear();
    runs_.clear();
    groups_.clear();
    pending_count_ = 0;
    follower_count_ = 0;
    unasked_count_ = 0;
}

void questions::ask(std::span<const offered_series> offered, const undecided& open, std::string_view tenant,
                    const std::function<bool(std::uint64_t)>& knows, const known_counts& counted) {
    assert(open.rules && open.selections.size() == open.pending.size());
    if (rules_ != open.rules) {
        rules_ = open.rules;
        terms_ = terms_of(*rules_);
    }
    terms_.hour = std::chrono::floor<std::chrono::hours>(open.hour.start).time_since_epoch() / std::chrono::hours{1};
    hour_ = open.hour;
    pending_count_ = open.pending.size();
    follower_count_ = open.followers.size();
    followers_.clear();
    for (std::uint32_t at = 0; at < open.followers.size(); ++at)
        if (!knows(offered[open.followers[at]].fingerprint)) followers_.push_back(at);
    group_by_budgets(open, tenant);
    unasked_count_ = 0;
    if (counted.of) find_spent(offered, open, counted);
    make_claims(offered, open);
}

void questions::group_by_budgets(const undecided& open, std::string_view tenant) {
    const auto less = [](const auto& a, const auto& b) {
        return std::ranges::lexicographical_compare(a, b, [](const auto& one, const auto& other) {
            return one.budget != other.budget ? one.budget < other.budget : one.place < other.place;
        });
    };
    std::map<std::vector<request_budgets::applying>, std::size_t, decltype(less)> by_budgets{less};
    std::vector<request_budgets::applying> applying;
    budgets_.start(*rules_, tenant);
    groups_.clear();
    std::size_t last = 0;  // neighbours are often of one group
    for (std::uint32_t at = 0; at < open.pending.size(); ++at) {
        budgets_.find(open.selections[at], applying);
        if (applying.empty()) continue;
        if (groups_.empty() || groups_[last].budgets != applying) {
            const auto [known, is_new] = by_budgets.try_emplace(applying, groups_.size());
            if (is_new) groups_.push_back({.budgets = applying, .series = {}});
            last = known->second;
        }
        groups_[last].series.push_back(at);
    }
}

void questions::find_spent(std::span<const offered_series> offered, const undecided& open,
                           const known_counts& counted) {
    for (group& each : groups_) {
        for (const request_budgets::applying& one : each.budgets) {
            const claimed_budget& budget = budgets_.all()[one.budget];
            const known_count is = counted.of(terms_.hour, budget.id);
            each.known.push_back({.place = one.place, .hourly = is.hourly, .daily = is.daily, .unasked = true});
            const std::uint64_t maximum = claimed_max(budget.maxima.hourly, counted.reserve);
            const bool is_spent = maximum != 0 && is.hourly >= maximum;
            if (is_spent && !each.spent_place) each.spent_place = one.place;
        }
        if (!each.spent_place) continue;
        unasked_count_ += each.series.size();
        for (const std::uint32_t at : each.series) each.unasked.push_back(offered[open.pending[at]].fingerprint);
    }
}

void questions::make_claims(std::span<const offered_series> offered, const undecided& open) {
    claims_.clear();
    runs_.clear();
    named_.clear();
    const auto add_runs = [&](const group* of, std::span<const request_budgets::applying> budgets,
                              std::span<const std::uint32_t> series, std::span<const std::uint32_t> entries) {
        for (std::size_t next = 0; next < series.size();) {
            claim_run run{.look = of == nullptr};
            claim& into = claim_with_room(budgets, run.budgets);
            const std::size_t room = claimed_series_max - into.fingerprints.size();
            const std::size_t count = std::min(room, series.size() - next);
            run.series = static_cast<std::uint32_t>(count);
            for (std::size_t i = 0; i < count; ++i)
                into.fingerprints.push_back(offered[entries[series[next + i]]].fingerprint);
            into.runs.push_back(std::move(run));
            runs_.back().push_back({.of = of, .first = static_cast<std::uint32_t>(next)});
            next += count;
        }
    };
    for (const group& each : groups_)
        if (!each.spent_place) add_runs(&each, each.budgets, each.series, open.pending);
    add_runs(nullptr, {}, followers_, open.followers);
}

/// The last claim, if it has room for a series and names these budgets or has room for them; else another one.
/// @param places gets where it names them.
claim& questions::claim_with_room(std::span<const request_budgets::applying> budgets,
                                  std::vector<std::uint8_t>& places) {
    named_.resize(budgets_.all().size());
    const auto is_named = [this](const request_budgets::applying& each) {
        return named_[each.budget].in == claims_.size();
    };
    const auto fits = [&](const claim& into) {
        const auto named = static_cast<std::size_t>(std::ranges::count_if(budgets, is_named));
        return into.fingerprints.size() < claimed_series_max &&
               into.budgets.size() + budgets.size() - named <= claimed_budgets_max;
    };
    if (claims_.empty() || !fits(claims_.back())) {
        claims_.emplace_back();
        runs_.emplace_back();
    }
    claim& into = claims_.back();
    for (const request_budgets::applying& each : budgets) {
        if (!is_named(each)) {
            named_[each.budget] = {.in = claims_.size(), .place = static_cast<std::uint8_t>(into.budgets.size())};
            into.budgets.push_back(budgets_.all()[each.budget]);
        }
        places.push_back(named_[each.budget].place);
    }
    return into;
}

told questions::tell(std::span<const std::optional<claim_answer>> answers, told_outcome unanswered,
                     const second_opinion& besides) {
    assert(answers.size() == claims_.size());
    told all{.hour = hour_,
             .pending = std::vector<told_series>(pending_count_),
             .known_followers = std::vector<bool>(follower_count_)};
    std::size_t heard_count = 0;
    for (const claim& each : claims_)
        for (const claim_run& run : each.runs) heard_count += run.budgets.size();
    heard_.clear();
    heard_.reserve(heard_count);  // so that they stay where they are
    for (std::size_t i = 0; i < claims_.size(); ++i) {
        const claim_answer* const answer = answers[i] ? &*answers[i] : nullptr;
        all.in_grace |= answer != nullptr && answer->windows.now < hour_.start + rules_->incumbent_grace;
        assert(answer == nullptr ||
               (answer->status == claim_status::decided && answer->series.size() == claims_[i].fingerprints.size() &&
                answer->budgets.size() == claims_[i].budgets.size()));
        std::size_t first = 0;
        for (std::size_t run = 0; run < claims_[i].runs.size(); ++run) {
            const claim_run& as = claims_[i].runs[run];
            const auto series = answer == nullptr ? std::span<const series_answer>{}
                                                  : std::span{answer->series}.subspan(first, as.series);
            tell_run(runs_[i][run], as, series, answer, unanswered, all);
            if (besides && !as.look) ask_besides(runs_[i][run], claims_[i], as, first, besides, answer != nullptr, all);
            first += as.series;
        }
    }
    for (const group& each : groups_)
        if (each.spent_place) tell_spent(each, besides, all);
    return all;
}

told questions::tell_nothing(told_outcome unanswered) {
    const std::vector<std::optional<claim_answer>> none(claims_.size());
    return tell(none, unanswered);
}

void questions::tell_run(const asked_run& run, const claim_run& as, std::span<const series_answer> series,
                         const claim_answer* answer, told_outcome unanswered, told& into) {
    if (run.of == nullptr) {
        for (std::uint32_t i = 0; i < as.series && answer != nullptr; ++i)
            into.known_followers[followers_[run.first + i]] = series[i].outcome == claim_outcome::known;
        return;
    }
    const std::size_t begin = heard_.size();
    for (std::size_t i = 0; i < as.budgets.size() && answer != nullptr; ++i) {
        const budget_answer& counts = answer->budgets[as.budgets[i]];
        heard_.push_back({.place = run.of->budgets[i].place,
                          .hourly = counts.hourly,
                          .daily = counts.daily,
                          .awaited = counts.awaited});
    }
    const std::span<const heard_budget> heard = std::span{heard_}.subspan(begin);
    for (std::uint32_t i = 0; i < as.series; ++i) {
        told_series& one = into.pending[run.of->series[run.first + i]];
        one.heard = heard;
        if (answer == nullptr) {
            one.outcome = unanswered;
            continue;
        }
        one.outcome = outcome_of(series[i].outcome);
        one.window = series[i].window;
        if (one.outcome != told_outcome::refused) continue;
        const auto by = std::ranges::find(as.budgets, series[i].budget);
        assert(by != as.budgets.end());  // who reads replies has seen to it
        one.place = run.of->budgets[static_cast<std::size_t>(by - as.budgets.begin())].place;
    }
}

void questions::tell_spent(const group& of, const second_opinion& besides, told& into) {
    for (std::size_t i = 0; i < of.series.size(); ++i) {
        told_series& one = into.pending[of.series[i]];
        one = {.outcome = told_outcome::refused,
               .window = refusing_window::hourly,
               .place = *of.spent_place,
               .heard = of.known};
        if (!besides) continue;
        if (const auto said = besides(of.unasked[i], {}, true)) one.outcome = *said;
    }
}

void questions::ask_besides(const asked_run& run, const claim& of, const claim_run& as, std::size_t first,
                            const second_opinion& besides, bool is_answered, told& into) const {
    std::vector<const claimed_budget*> budgets;
    for (const std::uint8_t place : as.budgets) budgets.push_back(&of.budgets[place]);
    for (std::uint32_t i = 0; i < as.series; ++i) {
        told_series& one = into.pending[run.of->series[run.first + i]];
        if (is_answered && one.outcome != told_outcome::refused) continue;
        if (const auto said = besides(of.fingerprints[first + i], budgets, is_answered)) one.outcome = *said;
    }
}

void questions::shrink() {
    groups_.clear();
    claims_.clear();
    runs_.clear();
    give_back(groups_);
    give_back(followers_);
    give_back(claims_);
    give_back(runs_);
    give_back(named_);
    give_back(heard_);
    budgets_.shrink();
}

}  // namespace seriesgate
