#include "claim/store_questions.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "core/bytes.hpp"
#include "limit/budget_table.hpp"
#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"
#include "limit/rules.hpp"
#include "limit/telling.hpp"

namespace seriesgate {

void store_questions::start() noexcept {
    calls_.clear();
    runs_.clear();
    groups_.clear();
    late_groups_.clear();
    refused_.clear();
    has_rest_ = false;
    pending_count_ = 0;
    follower_count_ = 0;
    unasked_count_ = 0;
}

void store_questions::ask(std::span<const offered_series> offered, const lookup_result& open, std::string_view tenant,
                          const unasked_knowledge& known) {
    assert(open.rules && open.selections.size() == open.pending.size());
    start();
    rules_.use(open.rules);
    hour_ = open.hour;
    losses_ = losses_of(known.limiter);
    offered_ = offered;
    open_ = &open;
    pending_count_ = open.pending.size();
    follower_count_ = open.non_admitting.size();
    group_by_budgets(tenant, known);
    if (known.view.is_fresh(known.now) && known.view.state() == store_reach::joined &&
        known.view.windows().hour == known.hour)
        find_spent(known);
    group followers{.when = turn::look, .budgets = {}, .series = {}};
    for (std::uint32_t at = 0; at < open.non_admitting.size(); ++at)
        if (!known.limiter.sets()->knows(offered[open.non_admitting[at]].fingerprint)) followers.series.push_back(at);
    groups_.push_back(std::move(followers));
    named_.clear();
    calls_closed_ = 0;
    for (group& each : groups_)
        if (!each.spent_place && each.when != turn::second && each.when != turn::never) add_runs(each);
}

void store_questions::describe(gate_terms& into) const {
    rules_.describe(into);
    into.hour = hour_number(hour_.start);
}

histogram_family store_questions::family_at(std::uint32_t at) const noexcept {
    return open_->families.empty() ? histogram_family{} : open_->families[at];
}

std::uint64_t store_questions::fingerprint_at(std::uint32_t at) const noexcept {
    return offered_[open_->pending[at]].fingerprint;
}

// --- Which budgets a series counts in.

void store_questions::find_budgets(const rule_selections::one& selection, std::string_view tenant,
                                   std::vector<applying>& found) {
    found.clear();
    if (selection.is_apart()) return;
    add_budget({.kind = budget_kind::global}, "", 0, found);
    add_budget({.kind = budget_kind::tenant}, tenant, tenant_place, found);
    for (std::size_t i = 0; i < selection.size(); ++i)
        add_budget({.kind = budget_kind::group, .limit = static_cast<std::uint32_t>(selection.limit_index(i))},
                   selection.key(i), first_limit_place + i, found);
}

void store_questions::add_budget(const budget_role& role, std::optional<std::string_view> key, std::size_t place,
                                 std::vector<applying>& found) {
    const std::uint64_t id = rules_.id_of(role, key);
    auto known = by_id_.find(id);
    if (known == by_id_.end()) {
        std::optional<std::uint32_t> at;
        if (const auto described = rules_.budget_of(role, key)) {
            at = static_cast<std::uint32_t>(budgets_.size());
            budgets_.push_back(*described);
        }
        known = by_id_.emplace(id, at).first;
    }
    if (known->second) found.push_back({.budget = *known->second, .place = static_cast<std::uint32_t>(place)});
}

// --- What is asked.

/// @return nothing: the series is refused, because its histogram is.
std::optional<store_questions::turn> store_questions::turn_of(std::uint32_t at, std::span<const applying> budgets,
                                                              const unasked_knowledge& known) const {
    const auto enforces = [this](const applying& each) {
        const shared_budget& budget = budgets_[each.budget];
        return budget.maxima.limit() || budget.overflow_maxima.limit();
    };
    if (std::ranges::none_of(budgets, enforces)) return turn::never;
    const bool is_incumbent = known.limiter.was_admitted_before(fingerprint_at(at));
    if (is_incumbent && known.accepts_incumbents) {
        over_full most = over_full::no;
        for (const applying& each : budgets)
            if (enforces(each)) most = std::max(most, known.view.is_over_full(budgets_[each.budget], known.hour));
        const bool is_doubtful = known.limiter.sets()->is_doubtful(fingerprint_at(at));
        if (most == over_full::no) return is_doubtful ? turn::doubtful : turn::never;
        if (most == over_full::unknown) return is_doubtful ? turn::doubtful : turn::unsure;
    }
    const histogram_family family = family_at(at);
    if (family && known.limiter.hour_has(family.fingerprint)) return turn::begun;
    if (is_incumbent) return turn::before;
    if (!family) return turn::first;
    if (known.limiter.has_refused(family.fingerprint)) return std::nullopt;
    return family.is_total ? turn::second : turn::first;
}

void store_questions::group_by_budgets(std::string_view tenant, const unasked_knowledge& known) {
    std::map<std::pair<turn, std::vector<applying>>, std::size_t> by_budgets;
    std::vector<applying> applying_here;
    budgets_.clear();
    by_id_.clear();
    std::size_t last = 0;  // neighbours are often of one group
    for (std::uint32_t at = 0; at < open_->pending.size(); ++at) {
        const std::uint64_t fingerprint = fingerprint_at(at);
        if (known.limiter.hour_has(fingerprint)) continue;
        find_budgets(open_->selections[at], tenant, applying_here);
        if (applying_here.empty()) continue;
        const auto when = turn_of(at, applying_here, known);
        if (!when) {
            refused_.push_back({.at = at});
            ++unasked_count_;
            continue;
        }
        has_rest_ |= *when != turn::never && *when != turn::begun && family_at(at);
        if (groups_.empty() || groups_[last].when != *when || groups_[last].budgets != applying_here) {
            const auto [at_group, is_new] = by_budgets.try_emplace({*when, applying_here}, groups_.size());
            if (is_new) {
                group& made = groups_.emplace_back(group{.when = *when, .budgets = applying_here, .series = {}});
                for (const applying& each : made.budgets) made.known.push_back({.place = each.place, .unasked = true});
            }
            last = at_group->second;
        }
        groups_[last].series.push_back(at);
    }
}

/// Finds the groups with a budget that the feed shows to be spent. Skips incumbents, for which the store may keep
/// places, and series that complete a histogram.
void store_questions::find_spent(const unasked_knowledge& known) {
    for (group& each : groups_) {
        if (each.when != turn::first && each.when != turn::second) continue;
        for (std::size_t i = 0; i < each.budgets.size(); ++i) {
            const shared_budget& budget = budgets_[each.budgets[i].budget];
            const auto heard = known.view.counts_of(budget.id);
            const std::uint64_t counted = heard ? heard->fed : 0;
            each.known[i].hourly = counted;
            const bool is_spent = budget.maxima.hourly != 0 && counted >= budget.maxima.hourly;
            if (is_spent && !each.spent_place) each.spent_place = each.budgets[i].place;
        }
        if (each.spent_place && each.when == turn::first) unasked_count_ += each.series.size();
    }
}

void store_questions::add_runs(group& of) {
    const auto& entries = of.when == turn::look ? open_->non_admitting : open_->pending;
    for (std::size_t next = 0; next < of.series.size();) {
        series_run run;
        if (of.when == turn::look) run.windows = {};
        run.completes = of.when == turn::begun;
        store_call& into = call_with_room(of.budgets, run.budgets);
        const std::size_t count = std::min(call_series_max - into.fingerprints.size(), of.series.size() - next);
        run.series = static_cast<std::uint32_t>(count);
        for (std::size_t i = 0; i < count; ++i)
            into.fingerprints.push_back(offered_[entries[of.series[next + i]]].fingerprint);
        into.runs.push_back(std::move(run));
        runs_.back().push_back({.of = &of, .first = static_cast<std::uint32_t>(next)});
        next += count;
    }
}

/// The last call, if it has room for a series and names these budgets or has room for them; else another one.
/// @param places gets where it names them.
store_call& store_questions::call_with_room(std::span<const applying> budgets, std::vector<std::uint8_t>& places) {
    named_.resize(budgets_.size());
    const auto is_named = [this](const applying& each) { return named_[each.budget].in == calls_.size(); };
    const auto fits = [&](const store_call& into) {
        const auto named = static_cast<std::size_t>(std::ranges::count_if(budgets, is_named));
        return into.fingerprints.size() < call_series_max &&
               into.budgets.size() + budgets.size() - named <= call_budgets_max;
    };
    if (calls_.size() == calls_closed_ || !fits(calls_.back())) {
        calls_.emplace_back();
        runs_.emplace_back();
    }
    store_call& into = calls_.back();
    for (const applying& each : budgets) {
        if (!is_named(each)) {
            named_[each.budget] = {.in = calls_.size(), .place = static_cast<std::uint8_t>(into.budgets.size())};
            into.budgets.push_back(budgets_[each.budget]);
        }
        places.push_back(named_[each.budget].place);
    }
    return into;
}

// --- Where histograms are kept whole: what is asked afterwards, and what not at all.

bool store_questions::ask_rest(std::span<const std::optional<store_answer>> answers) {
    if (!std::exchange(has_rest_, false)) return false;
    const fates by_family = fates_of(answers);
    calls_closed_ = calls_.size();
    late_groups_.reserve(2 * groups_.size());  // pointers into it must stay valid
    for (group& each : groups_)
        if (!each.refused.empty()) ask_again(each, by_family);
    for (group& each : groups_)
        if (each.when == turn::second) ask_late(each, by_family);
    return true;
}

namespace {

/// Without an answer, a series is treated as one that has to wait.
series_decision decision_in(const store_answer* answer, std::size_t place) {
    return answer == nullptr ? series_decision{.outcome = store_outcome::waits} : answer->series[place];
}

bool is_below(const shared_budget& of, const budget_in_store& is, refusing_window window) {
    const series_maxima& maxima = is.is_overflow ? of.overflow_maxima : of.maxima;
    return window == refusing_window::hourly ? is.hourly < maxima.hourly : is.daily < maxima.daily;
}

}  // namespace

/// Whether a series passes although the store has refused it, or has said nothing.
bool store_questions::passes_all_the_same(turn when, const series_decision& said, const store_call& asked,
                                          const store_answer* answer) noexcept {
    if (when != turn::unsure && when != turn::doubtful) return false;
    if (said.outcome != store_outcome::refused)
        return said.outcome == store_outcome::waits || said.outcome == store_outcome::unknown;
    // The store may not have been told yet that this is one of those that it keeps places for.
    return when == turn::unsure && is_below(asked.budgets[said.budget], answer->budgets[said.budget], said.window);
}

/// The outcome of each histogram in the first round, including series that were not asked about.
store_questions::fates store_questions::fates_of(std::span<const std::optional<store_answer>> answers) {
    assert(answers.size() == calls_.size());
    fates found;
    const auto note_refused = [&](group& in, std::uint32_t at, refusing_window window) {
        if (in.when != turn::begun) in.refused.push_back(at);
        histogram_fate& of = found[family_at(at).fingerprint];
        if (!of.like.like) of.like = {.at = at, .like = at, .window = window};
    };
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        std::size_t next = 0;
        const store_answer* const answer = answers[i] ? &*answers[i] : nullptr;
        for (std::size_t run = 0; run < calls_[i].runs.size(); ++run) {
            const asked_run& as = runs_[i][run];
            for (std::uint32_t in_run = 0; in_run < calls_[i].runs[run].series; ++in_run) {
                const series_decision said = decision_in(answer, next++);
                const std::uint32_t at = as.of->series[as.first + in_run];
                if (as.of->when == turn::look || !family_at(at)) continue;
                const bool passes = passes_all_the_same(as.of->when, said, calls_[i], answer);
                if (said.outcome == store_outcome::refused && !passes)
                    note_refused(*as.of, at, said.window);
                else if (said.outcome != store_outcome::waits || passes)
                    found[family_at(at).fingerprint].is_accepted = true;
            }
        }
    }
    for (group& each : groups_) {
        if (each.when == turn::never)
            for (const std::uint32_t at : each.series) found[family_at(at).fingerprint].is_accepted = true;
        if (each.spent_place && each.when == turn::first)
            for (const std::uint32_t at : each.series)
                if (family_at(at)) note_refused(each, at, refusing_window::hourly);
    }
    return found;
}

/// Asks again about refused series whose histogram another series of the request has begun.
void store_questions::ask_again(group& of, const fates& by_family) {
    const auto has_begun = [&](std::uint32_t at) { return by_family.at(family_at(at).fingerprint).is_accepted; };
    std::erase_if(of.refused, [&](std::uint32_t at) { return !has_begun(at); });
    if (of.refused.empty()) return;
    if (of.spent_place)
        unasked_count_ -= std::erase_if(of.series, [&](std::uint32_t at) { return family_at(at) && has_begun(at); });
    late_groups_.push_back({.when = turn::begun, .budgets = of.budgets, .series = of.refused, .known = of.known});
    add_runs(late_groups_.back());
}

/// Asks about sums and counts, now that their buckets are decided. @param of keeps only series that a spent budget
/// refuses.
void store_questions::ask_late(group& of, const fates& by_family) {
    // Those whose buckets were accepted complete their histograms; the others need room.
    group completing{.when = turn::begun, .budgets = of.budgets, .series = {}, .spent_place = {}, .known = of.known};
    group asked = completing;
    asked.when = turn::second;
    std::vector<std::uint32_t> spent;
    for (const std::uint32_t at : of.series) {
        const auto found = by_family.find(family_at(at).fingerprint);
        const histogram_fate fate = found == by_family.end() ? histogram_fate{} : found->second;
        if (fate.is_accepted) {
            completing.series.push_back(at);
        } else if (fate.like.like) {
            refused_.push_back({.at = at, .like = fate.like.like, .window = fate.like.window});
            ++unasked_count_;
        } else {
            (of.spent_place ? spent : asked.series).push_back(at);
        }
    }
    unasked_count_ += spent.size();
    of.series = std::move(spent);
    for (group* const each : {&completing, &asked})
        if (!each->series.empty()) add_runs(late_groups_.emplace_back(std::move(*each)));
}

// --- The decision.

fleet_decision store_questions::decide(std::span<const std::optional<store_answer>> answers,
                                       const without_answer& otherwise) {
    assert(answers.size() == calls_.size() && !has_rest_);
    fleet_decision all{.hour = hour_,
                       .losses = losses_,
                       .pending = std::vector<pending_decision>(pending_count_),
                       .known_non_admitting = std::vector<bool>(follower_count_)};
    std::size_t heard_count = 0;
    for (const store_call& each : calls_)
        for (const series_run& run : each.runs) heard_count += run.budgets.size();
    counted_.clear();
    counted_.reserve(heard_count);  // pointers into it must stay valid
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        const store_answer* const answer = answers[i] ? &*answers[i] : nullptr;
        assert(answer == nullptr ||
               (answer->status == store_status::decided && answer->series.size() == calls_[i].fingerprints.size() &&
                answer->budgets.size() == calls_[i].budgets.size()));
        std::size_t first = 0;
        for (std::size_t run = 0; run < calls_[i].runs.size(); ++run) {
            decide_run(runs_[i][run], calls_[i].runs[run], first, calls_[i], answer, otherwise, all);
            first += calls_[i].runs[run].series;
        }
    }
    for (const group& each : groups_)
        if (each.spent_place || each.when == turn::never) decide_unasked(each, all);
    for (const refused_one& each : refused_)
        all.pending[each.at] = {
            .outcome = decision_outcome::refused_with_histogram, .window = each.window, .like = each.like};
    return all;
}

void store_questions::decide_run(const asked_run& run, const series_run& as, std::size_t first, const store_call& asked,
                                 const store_answer* answer, const without_answer& otherwise, fleet_decision& into) {
    const auto said_of = [&](std::uint32_t i) { return decision_in(answer, first + i); };
    if (run.of->when == turn::look) {
        for (std::uint32_t i = 0; i < as.series; ++i)
            into.known_non_admitting[run.of->series[run.first + i]] = said_of(i).outcome == store_outcome::known;
        return;
    }
    std::span<const counted_budget> counted = run.of->known;
    if (answer != nullptr) {
        const std::size_t begin = counted_.size();
        for (std::size_t i = 0; i < as.budgets.size(); ++i) {
            const budget_in_store& counts = answer->budgets[as.budgets[i]];
            counted_.push_back({.place = run.of->budgets[i].place,
                                .hourly = counts.hourly,
                                .daily = counts.daily,
                                .reserved = counts.kept,
                                .unasked = false,
                                .is_overflow = counts.is_overflow});
        }
        counted = std::span{counted_}.subspan(begin);
    }
    std::vector<const shared_budget*> budgets;
    for (std::uint32_t i = 0; i < as.series; ++i) {
        pending_decision& one = into.pending[run.of->series[run.first + i]];
        one.budgets = counted;
        const series_decision said = said_of(i);
        if (said.outcome == store_outcome::known) {
            one.outcome = decision_outcome::known;
            continue;
        }
        if (said.outcome == store_outcome::taken || said.outcome == store_outcome::completed) {
            one.outcome = decision_outcome::taken;
            one.completed = said.without_room;
            continue;
        }
        const bool passes = passes_all_the_same(run.of->when, said, asked, answer);
        if (said.outcome == store_outcome::refused) {
            one.window = said.window;
            const auto by = std::ranges::find(as.budgets, said.budget);
            assert(by != as.budgets.end());  // read_answer() has checked it
            one.place = run.of->budgets[static_cast<std::size_t>(by - as.budgets.begin())].place;
            one.outcome = passes ? decision_outcome::passes : decision_outcome::refused;
            continue;
        }
        if (budgets.empty())
            for (const std::uint8_t place : as.budgets) budgets.push_back(&asked.budgets[place]);
        one.outcome = passes ? decision_outcome::passes : otherwise(budgets);
    }
}

/// Decides about a group that was not asked about: it passes, or a spent budget refuses it.
void store_questions::decide_unasked(const group& of, fleet_decision& into) const {
    for (const std::uint32_t at : of.series) {
        pending_decision& one = into.pending[at];
        one = {.outcome = of.spent_place ? decision_outcome::refused : decision_outcome::passes, .budgets = of.known};
        if (of.spent_place) one.place = *of.spent_place;
    }
}

void store_questions::shrink() {
    start();
    by_id_ = {};
    give_back_all(budgets_, groups_, late_groups_, refused_, calls_, runs_, named_, counted_);
}

}  // namespace seriesgate
