#include "claim/questions.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <utility>

#include "claim/rule_terms.hpp"
#include "core/bytes.hpp"

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
    late_groups_.clear();
    refused_.clear();
    has_rest_ = false;
    pending_count_ = 0;
    follower_count_ = 0;
    unasked_count_ = 0;
}

void questions::ask(std::span<const offered_series> offered, const lookup_result& open, std::string_view tenant,
                    const std::function<bool(std::uint64_t)>& knows, const known_counts& counted,
                    const known_histograms& histograms) {
    assert(open.rules && open.selections.size() == open.pending.size());
    if (rules_ != open.rules) {
        rules_ = open.rules;
        terms_ = terms_of(*rules_);
    }
    terms_.hour = std::chrono::floor<std::chrono::hours>(open.hour.start).time_since_epoch() / std::chrono::hours{1};
    hour_ = open.hour;
    offered_ = offered;
    open_ = &open;
    pending_count_ = open.pending.size();
    follower_count_ = open.followers.size();
    followers_.clear();
    for (std::uint32_t at = 0; at < open.followers.size(); ++at)
        if (!knows(offered[open.followers[at]].fingerprint)) followers_.push_back(at);
    unasked_count_ = 0;
    group_by_budgets(tenant, histograms);
    if (counted.knows)
        for (group& each : groups_)
            std::erase_if(each.series, [&](std::uint32_t place) { return counted.knows(fingerprint_at(place)); });
    if (counted.of) find_spent(counted, histograms);
    claims_.clear();
    runs_.clear();
    named_.clear();
    claims_closed_ = 0;
    for (const group& each : groups_)
        if (!each.spent_place && each.when != turn::second) add_runs(&each, each.budgets, each.series, open.pending);
    add_runs(nullptr, {}, followers_, open.followers);
}

histogram_family questions::family_at(std::uint32_t at) const noexcept {
    return open_->families.empty() ? histogram_family{} : open_->families[at];
}

std::uint64_t questions::fingerprint_at(std::uint32_t at) const noexcept {
    return offered_[open_->pending[at]].fingerprint;
}

void questions::group_by_budgets(std::string_view tenant, const known_histograms& histograms) {
    using applying_in_turn = std::pair<turn, std::vector<request_budgets::applying>>;
    const auto less = [](const applying_in_turn& a, const applying_in_turn& b) {
        if (a.first != b.first) return a.first < b.first;
        return std::ranges::lexicographical_compare(a.second, b.second, [](const auto& one, const auto& other) {
            return one.budget != other.budget ? one.budget < other.budget : one.place < other.place;
        });
    };
    std::map<applying_in_turn, std::size_t, decltype(less)> by_budgets{less};
    std::vector<request_budgets::applying> applying;
    budgets_.start(*rules_, tenant);
    groups_.clear();
    late_groups_.clear();
    refused_.clear();
    has_rest_ = false;
    std::size_t last = 0;  // neighbours are often of one group
    for (std::uint32_t at = 0; at < open_->pending.size(); ++at) {
        budgets_.find(open_->selections[at], applying);
        if (applying.empty()) continue;
        const std::optional<turn> when = turn_of(at, histograms);
        if (!when) {
            refused_.push_back({.at = at});
            ++unasked_count_;
            continue;
        }
        has_rest_ |= *when == turn::second;
        if (groups_.empty() || groups_[last].when != *when || groups_[last].budgets != applying) {
            const auto [known, is_new] = by_budgets.try_emplace(applying_in_turn{*when, applying}, groups_.size());
            if (is_new) groups_.push_back({.when = *when, .budgets = applying, .series = {}});
            last = known->second;
        }
        groups_[last].series.push_back(at);
    }
}

void questions::find_spent(const known_counts& counted, const known_histograms& histograms) {
    std::vector<group> incumbents;
    for (group& each : groups_) {
        if (each.when == turn::begun) continue;
        for (const request_budgets::applying& one : each.budgets) {
            const claimed_budget& budget = budgets_.all()[one.budget];
            const known_count is = counted.of(terms_.hour, budget.id);
            each.known.push_back({.place = one.place, .hourly = is.hourly, .daily = is.daily, .unasked = true});
            const std::uint64_t maximum = claimed_max(budget.maxima.hourly, counted.reserve);
            const bool is_spent = maximum != 0 && is.hourly >= maximum;
            if (is_spent && !each.spent_place) each.spent_place = one.place;
        }
        if (!each.spent_place || each.when != turn::first) continue;
        if (histograms.is_incumbent && rules_->whole_histograms) {
            // Some of what fills the budget may have completed histograms, and takes no room from them.
            group asked{.when = turn::begun, .budgets = each.budgets, .series = {}};
            std::erase_if(each.series, [&](std::uint32_t at) {
                const bool is_incumbent = histograms.is_incumbent(fingerprint_at(at));
                if (is_incumbent) asked.series.push_back(at);
                return is_incumbent;
            });
            if (!asked.series.empty()) incumbents.push_back(std::move(asked));
        }
        leave_unasked(each);
    }
    std::ranges::move(incumbents, std::back_inserter(groups_));
}

void questions::leave_unasked(group& spent) {
    unasked_count_ += spent.series.size();
    for (const std::uint32_t at : spent.series) spent.unasked.push_back(fingerprint_at(at));
}

/// @param of null: they are only looked for.
/// @param series places in `entries`, which has places in what was offered.
void questions::add_runs(const group* of, std::span<const request_budgets::applying> budgets,
                         std::span<const std::uint32_t> series, std::span<const std::uint32_t> entries) {
    for (std::size_t next = 0; next < series.size();) {
        claim_run run{.look = of == nullptr};
        claim& into = claim_with_room(budgets, run.budgets);
        const std::size_t room = claimed_series_max - into.fingerprints.size();
        const std::size_t count = std::min(room, series.size() - next);
        run.series = static_cast<std::uint32_t>(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t at = series[next + i];
            const std::uint64_t family = of == nullptr ? 0 : family_at(at).fingerprint;
            if (family != 0) into.families.resize(into.fingerprints.size());
            if (family != 0 || !into.families.empty()) into.families.push_back(family);
            into.fingerprints.push_back(offered_[entries[at]].fingerprint);
        }
        into.runs.push_back(std::move(run));
        runs_.back().push_back({.of = of, .first = static_cast<std::uint32_t>(next)});
        next += count;
    }
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
    if (claims_.size() == claims_closed_ || !fits(claims_.back())) {
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
    assert(answers.size() == claims_.size() && !has_rest_);
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
    tell_refused(besides, all);
    return all;
}

told questions::tell_nothing(told_outcome unanswered) {
    std::vector<std::optional<claim_answer>> none(claims_.size());
    while (ask_rest(none)) none.resize(claims_.size());
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
        one.completed = series[i].completed;
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
    start();
    give_back(groups_);
    give_back(late_groups_);
    give_back(refused_);
    give_back(followers_);
    give_back(claims_);
    give_back(runs_);
    give_back(named_);
    give_back(heard_);
    budgets_.shrink();
}

}  // namespace seriesgate
