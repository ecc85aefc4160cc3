#include "cardinality/suggestions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

/// A rate over less time is meaningless.
constexpr auto span_min = std::chrono::minutes{1};

/// Budgets whose hashes collide share a count: a wrong rate for a few minutes.
std::uint64_t hash_of(std::string_view key) {
    return std::hash<std::string_view>{}(key);
}

constexpr std::uint64_t suggested_min = 10;
/// Larger than any demand, and cannot overflow.
constexpr std::uint64_t peak_max = std::numeric_limits<std::uint64_t>::max() / 4;

std::uint64_t rounded_up(std::uint64_t number) {
    std::uint64_t step = 1;
    while (number / step >= 100) step *= 10;
    return std::max((number + step - 1) / step * step, suggested_min);
}

std::uint64_t demand_of(const budget_window_figures& of) {
    return of.series_current + of.series_refused;
}

/// What one window refuses is not offered to the others: their demand is hidden.
bool hides_demand(const budget_figures& of) {
    const std::uint64_t active = of.active ? of.active->series_refused : 0;
    return of.mode == limit_mode::enforce && of.hourly.series_refused + of.daily.series_refused + active != 0;
}

/// The most at one time in this hour, and those refused. 0 if active series are not counted.
std::uint64_t active_demand_of(const budget_figures& of) {
    return of.active ? of.active_peak + of.active->series_refused : 0;
}

using parts_of_whole = std::vector<const budget_figures*>;

struct adviser {
    const limiter_figures& figures;
    const demand_history& history;
    const fill_rates& rates;
    time_point now;

    /// For a budget with its own maxima, or one that stands for budgets sharing maxima.
    [[nodiscard]] suggestion advise(demand_scope scope, const budget_figures& budget, bool is_hidden) const {
        const std::string key = demand_key(scope, budget.name);
        const auto past = history.find(key);
        suggestion made{.scope = scope, .name = budget.name, .mode = budget.mode};
        made.hourly = advise_window(key, refusing_window::hourly, budget.hourly, past.hourly);
        made.daily = advise_window(key, refusing_window::daily, budget.daily, past.daily);
        // Series refused by the hour were not offered to the day, so the day needs at least as much.
        if (made.hourly.suggested) made.daily.suggested = std::max(made.daily.suggested, made.hourly.suggested);
        if (budget.active)
            made.active =
                weighed(refusing_window::active, budget.active->series_max, active_demand_of(budget), past.active);
        const std::uint64_t active_max = budget.active ? budget.active->series_max : 0;
        const bool is_limited = budget.hourly.series_max != 0 || budget.daily.series_max != 0 || active_max != 0;
        const auto to_write = [is_limited, is_hidden](const window_suggestion& of) {
            if (is_limited && of.series_max == 0) return of.series_max;
            return is_hidden || !of.suggested ? std::max(of.series_max, of.suggested.value_or(0)) : *of.suggested;
        };
        made.to_write = {.hourly = to_write(made.hourly),
                         .daily = to_write(made.daily),
                         .active = active_max == 0 ? 0 : to_write(*made.active)};
        return made;
    }

    /// For maxima shared by tenants or groups without an override: by the largest of them.
    [[nodiscard]] suggestion advise_whole(demand_scope scope, const budget_name& name, const series_maxima& maxima,
                                          limit_mode mode, const parts_of_whole& parts) const {
        budget_figures largest{.name = name, .mode = mode};
        for (const budget_figures* each : parts) {
            if (demand_of(each->hourly) > demand_of(largest.hourly)) largest.hourly = each->hourly;
            if (demand_of(each->daily) > demand_of(largest.daily)) largest.daily = each->daily;
            if (active_demand_of(*each) > active_demand_of(largest)) {
                largest.active = each->active;
                largest.active_peak = each->active_peak;
            }
        }
        if (figures.active && !largest.active) largest.active.emplace();
        if (largest.active) largest.active->series_max = maxima.active;
        largest.hourly.series_max = maxima.hourly;
        largest.daily.series_max = maxima.daily;
        const bool is_hidden = std::ranges::any_of(parts, [](const auto* each) { return hides_demand(*each); });
        suggestion made = advise(scope, largest, is_hidden);
        made.hourly.exhausted_in = soonest(refusing_window::hourly, parts);
        made.daily.exhausted_in = soonest(refusing_window::daily, parts);
        return made;
    }

  private:
    [[nodiscard]] window_suggestion advise_window(std::string_view key, refusing_window window,
                                                  const budget_window_figures& running,
                                                  const demand_history::past& past) const {
        window_suggestion made = weighed(window, running.series_max, demand_of(running), past);
        made.exhausted_in = rates.exhausted_in(key, window, running, figures, now);
        return made;
    }

    [[nodiscard]] static window_suggestion weighed(refusing_window window, std::uint64_t series_max,
                                                   std::uint64_t demand, const demand_history::past& past) {
        window_suggestion made{.series_max = series_max, .demand = demand};
        made.peak = std::max(past.peak, made.demand);
        made.windows = past.windows;
        if (past.windows != 0) made.typical = past.typical;
        if (made.peak != 0) made.suggested = suggested_maximum(window, made.peak);
        if (made.series_max != 0)
            made.headroom = static_cast<std::int64_t>(made.series_max) - static_cast<std::int64_t>(made.peak);
        return made;
    }

    [[nodiscard]] std::optional<std::chrono::seconds> soonest(refusing_window window,
                                                              const parts_of_whole& parts) const {
        std::optional<std::chrono::seconds> found;
        for (const budget_figures* each : parts) {
            if (in_window(*each, window).series_max == 0) continue;
            const std::string key = demand_key(scope_of(each->name), each->name);
            const auto left = rates.exhausted_in(key, window, in_window(*each, window), figures, now);
            if (left && (!found || *left < *found)) found = left;
        }
        return found;
    }
};

/// Budgets with the shared maxima, by limit.
std::map<std::string_view, parts_of_whole> without_override(const std::vector<budget_figures>& all) {
    std::map<std::string_view, parts_of_whole> found;
    for (const budget_figures& each : all)
        if (!each.overridden && !each.name.overflow) found[each.name.limit].push_back(&each);
    return found;
}

std::vector<suggestion> advise_wholes(const adviser& by, const limiter_figures& figures, const limit_rules& rules,
                                      const budget_choice& choice) {
    const auto mode = [&rules](limit_mode own) { return rules.mode == limit_mode::observe ? rules.mode : own; };
    std::vector<suggestion> made;
    if (choice.takes({})) {
        made.push_back(by.advise(demand_scope::global, figures.global, hides_demand(figures.global)));
        made.push_back(by.advise_whole(demand_scope::tenants, {}, rules.tenants.fallback, mode(rules.tenants.mode),
                                       without_override(figures.tenants)[{}]));
    }
    auto parts = without_override(figures.limits);
    for (const label_limit& limit : rules.limits) {
        budget_name name;
        name.limit = limit.name;
        if (choice.takes(name))
            made.push_back(
                by.advise_whole(demand_scope::limit, name, limit.maxima, mode(limit.mode), parts[limit.name]));
    }
    return made;
}

/// A tenant or group before it is evaluated: there may be very many.
struct candidate {
    demand_scope scope;
    const budget_figures* budget;
    std::uint64_t peak;
};

std::vector<candidate> candidates_of(const limiter_figures& figures, const demand_history& history,
                                     const budget_choice& choice) {
    std::vector<candidate> found;
    const auto add = [&](const std::vector<budget_figures>& all, demand_scope scope) {
        for (const budget_figures& each : all) {
            if (!choice.takes(each.name) || each.name.is_whole_limit()) continue;
            const auto past = history.find(demand_key(scope, each.name));
            found.push_back(
                {.scope = scope,
                 .budget = &each,
                 .peak = std::max({past.hourly.peak, past.daily.peak, past.active.peak, demand_of(each.hourly),
                                   demand_of(each.daily), active_demand_of(each)})});
        }
    };
    add(figures.tenants, demand_scope::tenant);
    add(figures.limits, demand_scope::group);
    std::ranges::stable_sort(found, std::greater{}, &candidate::peak);
    return found;
}

}  // namespace

bool fill_rates::track::is_due(time_point now, std::chrono::sys_seconds start) const {
    if (now < start + settling) return false;
    return window != start || !newer || now >= newer->when + spacing || now < newer->when;
}

bool fill_rates::is_due(time_point now, std::chrono::sys_seconds hour, std::chrono::sys_seconds day) const {
    return hourly_.is_due(now, hour) || daily_.is_due(now, day);
}

void fill_rates::note(time_point now, const limiter_figures& figures) {
    if (hourly_.is_due(now, figures.hourly.span.start)) note_in(hourly_, now, figures, refusing_window::hourly);
    if (daily_.is_due(now, figures.daily.span.start)) note_in(daily_, now, figures, refusing_window::daily);
}

void fill_rates::note_in(track& into, time_point now, const limiter_figures& figures, refusing_window window) {
    std::vector<const budget_figures*> budgets;
    for (const auto* all : {&figures.tenants, &figures.limits})
        for (const budget_figures& each : *all) budgets.push_back(&each);
    noted made{.when = now, .has_all = budgets.size() <= budgets_max};
    if (!made.has_all) {
        const auto count = [window](const budget_figures* each) { return in_window(*each, window).series_current; };
        std::ranges::nth_element(budgets, budgets.begin() + budgets_max, std::greater{}, count);
        budgets.resize(budgets_max);
    }
    for (const budget_figures* each : budgets)
        made.counts.emplace(hash_of(demand_key(scope_of(each->name), each->name)),
                            in_window(*each, window).series_current);
    made.counts.emplace(hash_of(demand_key(demand_scope::global, {})),
                        in_window(figures.global, window).series_current);
    const auto start = window == refusing_window::hourly ? figures.hourly.span.start : figures.daily.span.start;
    const bool goes_on = into.window == start && into.newer && into.newer->when <= now;
    into.older = goes_on ? std::move(into.newer) : std::nullopt;
    into.newer = std::move(made);
    into.window = start;
}

std::optional<std::chrono::seconds> fill_rates::exhausted_in(std::string_view key, refusing_window window,
                                                             const budget_window_figures& of,
                                                             const limiter_figures& figures, time_point now) const {
    if (of.series_max == 0) return std::nullopt;
    if (of.series_current >= of.series_max) return std::chrono::seconds{0};
    const bool is_hour = window == refusing_window::hourly;
    const track& in = is_hour ? hourly_ : daily_;
    const window_span& span = is_hour ? figures.hourly.span : figures.daily.span;
    if (in.window != span.start || !in.newer) return std::nullopt;
    const noted& from = in.older ? *in.older : *in.newer;
    if (now < from.when + span_min) return std::nullopt;
    const auto found = from.counts.find(hash_of(key));
    if (found == from.counts.end() && !from.has_all) return std::nullopt;
    const std::uint64_t before = found == from.counts.end() ? 0 : found->second;
    if (of.series_current <= before) return std::nullopt;
    const double seconds = std::chrono::duration<double>(now - from.when).count();
    const double rate = static_cast<double>(of.series_current - before) / seconds;
    const double left = static_cast<double>(of.series_max - of.series_current) / rate;
    if (left >= std::chrono::duration<double>(span.end - now).count()) return std::nullopt;
    return std::chrono::seconds{static_cast<std::int64_t>(std::ceil(left))};
}

std::uint64_t suggested_maximum(refusing_window window, std::uint64_t peak) {
    const std::uint64_t from = std::min(peak, peak_max);
    return rounded_up(from + (window == refusing_window::hourly ? from / 2 + from % 2 : from / 4 + (from % 4 + 3) / 4));
}

suggestion_list suggest(const limiter_figures& figures, const limit_rules& rules, const demand_history& history,
                        const fill_rates& rates, time_point now, const budget_choice& choice) {
    const adviser by{figures, history, rates, now};
    suggestion_list made{.shown = advise_wholes(by, figures, rules, choice)};
    const std::vector<candidate> candidates = candidates_of(figures, history, choice);
    made.total = made.shown.size() + candidates.size();
    if (made.shown.size() > choice.shown_max) made.shown.resize(choice.shown_max);
    const std::size_t room = choice.shown_max - made.shown.size();
    for (const candidate& each : std::span{candidates}.first(std::min(room, candidates.size())))
        made.shown.push_back(by.advise(each.scope, *each.budget, hides_demand(*each.budget)));
    return made;
}

void observed_demand::look(series_limiter& limiter, time_point now) {
    const auto ended = take_ended(limiter);
    const auto [hour, day] = [&] {
        const auto current = limiter.sets();
        return std::pair{current->hour_span.start, current->day_span.start};
    }();
    std::optional<limiter_figures> figures;
    bool is_due = false;
    {
        const auto held = noted_.lock();
        if (!held->begun || now < *held->begun) held->begun = now;
        is_due = now >= *held->begun + fill_rates::settling && held->rates.is_due(now, hour, day);
    }
    if (is_due) figures = figures_of(limiter);
    const auto held = noted_.lock();
    if (!ended.empty()) held->history.add(ended);
    held->history.advance(hour, day);
    if (figures) held->rates.note(now, *figures);
}

suggestion_list observed_demand::suggest(const series_limiter& limiter, time_point now, const budget_choice& choice) {
    const limiter_figures figures = figures_of(limiter);
    const auto rules = limiter.rules();
    const noted copy = *noted_.lock();
    return seriesgate::suggest(figures, *rules, copy.history, copy.rates, now, choice);
}

void observed_demand::save(state_encoder& out) {
    const demand_history copy = noted_.lock()->history;
    copy.save(out);
}

bool observed_demand::load(state_decoder& in) {
    demand_history loaded;
    if (!loaded.load(in)) return false;
    noted_.lock()->history = std::move(loaded);
    return true;
}

}  // namespace seriesgate
