#include "limit/figures.hpp"

#include <memory>
#include <string>
#include <utility>

#include "limit/budget_table.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

budget_window_figures figures_of(const budget& counted) {
    return {.series_max = counted.max(),
            .series_current = counted.current(),
            .series_reserved = counted.reserved(),
            .series_refused = counted.refused_series(),
            .refused_is_exact = counted.counts_refused_exactly()};
}

/// Budgets read under one hold of the lock: estimating refused series takes up to a microsecond each.
constexpr std::size_t figures_per_piece = 32;

/// A budget whose name is made later, without the lock.
struct unnamed {
    std::string key;
    budget_role role;
    budget_figures figures;
};

limiter_figures figures_of_windows(const commit_state& held, const limiter_state& state) {
    const auto current = state.sets.read();
    const budget_table& budgets = held.budgets;
    limiter_figures made;
    made.mode = budgets.rules()->mode;
    made.clock_in_doubt = current->leap.has_value();
    made.global = figures_of(budgets.global(), budgets, held.minute);
    const auto in = [&](refusing_window window, const budget_window_figures& global, const window_tally& tally,
                        const admitted_set* filter) {
        const bool observes = made.mode == limit_mode::observe;
        return window_figures{.span = window == refusing_window::daily ? current->day_span : current->hour_span,
                              .series_max = global.series_max,
                              .series_current = global.series_current,
                              .series_refused = observes ? global.series_refused : tally.refused_series.estimate(),
                              .refused_is_exact = observes ? global.refused_is_exact : tally.refused_series.is_exact(),
                              .samples_refused = state.samples.read(window),
                              .series_over_limit = tally.over_limit,
                              .series_cut = tally.cut_series.estimate(),
                              .false_positive_rate = filter == nullptr ? 0 : filter->false_positive_rate(),
                              .filter_bytes = filter == nullptr ? 0 : filter->bytes()};
    };
    made.hourly = in(refusing_window::hourly, made.global.hourly, held.hourly, current->hour.get());
    if (current->table) made.hourly.filter_bytes += current->table->bytes();
    made.daily =
        in(refusing_window::daily, made.global.daily, held.daily, current->day ? &current->day->filter() : nullptr);
    if (state.is_shared()) made.global.active.reset();  // a fleet does not count them as one
    if (made.global.active) {
        made.active = in(refusing_window::active, *made.global.active, held.active, nullptr);
        made.active_window = budgets.rules()->active_window;
        made.active->filter_bytes = budgets.active().bytes();
    }
    made.commits = state.commits.load(std::memory_order_relaxed);
    return made;
}

void add(unnamed& from, const compiled_rules& rules, const budget_filter& takes, limiter_figures& made) {
    const budget_role& role = from.role;
    budget_figures& figures = from.figures;
    const bool is_group = role.kind == budget_kind::group;
    if (is_group && rules.is_exempt_limit(role.limit)) {
        made.exempt_hourly += figures.hourly.series_current;
        made.exempt_daily += figures.daily.series_current;
        if (figures.active) made.exempt_active += figures.active->series_current;
    }
    figures.name = name_of(rules, role, from.key);
    if (!takes(figures.name)) return;
    figures.overridden = !role.overflow && is_overridden(rules, role, from.key);
    (is_group ? made.limits : made.tenants).push_back(std::move(figures));
}

/// @return false if the hour or the rules changed meanwhile.
bool add_budgets(limiter_state& state, budget_table::cursor at, const compiled_rules& rules, const budget_filter& takes,
                 limiter_figures& made) {
    std::vector<unnamed> piece;
    piece.reserve(figures_per_piece);
    for (bool more = true; more; piece.clear()) {
        {
            const auto held = state.commit.lock();
            if (!held->budgets.holds(at)) return false;
            more = held->budgets.visit_some(at, figures_per_piece, [&](const budget_pair& pair) {
                if (pair.role.kind == budget_kind::tenant || pair.role.kind == budget_kind::group)
                    piece.push_back(
                        {.key = pair.key, .role = pair.role, .figures = figures_of(pair, held->budgets, held->minute)});
            });
        }
        for (unnamed& each : piece) {
            if (state.is_shared()) each.figures.active.reset();
            add(each, rules, takes, made);
        }
    }
    return true;
}

constexpr std::uint64_t table_bytes_min = 20, table_bytes_max = 32;
constexpr std::uint64_t block_bytes = 64;
constexpr std::uint64_t growth_factor = 2;
constexpr std::uint64_t windows_kept = 3;  // the hour, the hour before, the day
constexpr std::uint64_t hours_of_day = 24;

}  // namespace

budget_figures figures_of(const budget_pair& pair, const budget_table& in, minute_number now) {
    const active_series& active = in.active();
    budget_figures made{.mode = pair.mode, .hourly = figures_of(pair.hourly), .daily = figures_of(pair.daily)};
    if (pair.active.number != 0)
        made.active = {.series_max = pair.active.max(),
                       .series_current = active.count_in(pair.active.number),
                       .series_refused = pair.active.refused().estimate(),
                       .refused_is_exact = pair.active.refused().is_exact(),
                       .takes_no_new = in.active_room_of(pair, now) == std::uint64_t{0}};
    made.active_peak = active.peak_in(pair.active.number);
    return made;
}

const budget_window_figures& in_window(const budget_figures& of, refusing_window window) noexcept {
    if (window == refusing_window::active && of.active) return *of.active;
    return window == refusing_window::hourly ? of.hourly : of.daily;
}

limiter_figures figures_of(const series_limiter& limiter, const budget_filter& takes) {
    limiter_state& state = limiter.state();
    for (;;) {
        catch_up(state.commit);
        limiter_figures made;
        std::shared_ptr<const compiled_rules> rules;
        budget_table::cursor at;
        {
            const auto held = state.commit.lock();
            if (held->budgets.is_behind()) continue;
            at = held->budgets.begin();
            rules = held->budgets.rules();
            made = figures_of_windows(*held, state);
        }
        if (add_budgets(state, at, *rules, takes, made)) return made;
    }
}

limiter_figures figures_of_windows(const series_limiter& limiter) {
    limiter_state& state = limiter.state();
    const auto held = state.commit.lock();
    // The global budget is the first: after an hour's end it would still have the counts of that hour.
    if (held->budgets.is_behind()) held->budgets.catch_up(budgets_updated_per_piece);
    return figures_of_windows(*held, state);
}

std::vector<ended_budget> take_ended(series_limiter& limiter) {
    auto entries = limiter.state().commit.lock()->budgets.take_ended();
    std::vector<ended_budget> named;
    named.reserve(entries.size());
    for (const ended_budgets::entry& each : entries) {
        ended_budget made{.scope = each.scope, .hour = each.hour, .day = each.day, .active = each.active};
        if (is_part(each.scope)) made.name = name_of(*each.rules, each.role, each.key);
        if (each.scope == demand_scope::limit) made.name.limit = each.rules->limits[each.role.limit].name;
        named.push_back(std::move(made));
    }
    return named;
}

memory_estimate estimate_memory(const limit_rules& rules, set_kind set) {
    constexpr std::uint64_t million = 1'000'000;
    const bool is_table = set == set_kind::exact;
    const auto in_filter = [&](std::uint64_t series) {
        return block_bytes * blocks_for({.capacity = series, .false_positive_rate = rules.false_positive_rate});
    };
    memory_estimate made{.series_bytes_min = table_bytes_min, .series_bytes_max = table_bytes_max};
    if (!is_table) {
        made.series_bytes_min = windows_kept * ((in_filter(million) + million - 1) / million);
        made.series_bytes_max = growth_factor * made.series_bytes_min;
    }
    const auto [hourly, daily, active] = rules.global;
    if (rules.mode == limit_mode::observe || (hourly == 0 && daily == 0)) return made;
    const std::uint64_t hour = hourly == 0 ? daily : daily == 0 ? hourly : std::min(hourly, daily);
    const std::uint64_t day = daily == 0 ? hours_of_day * hour : daily;
    made.at_limits = {.hour_series = hour,
                      .day_series = day,
                      .bytes = is_table ? (day + hour) * table_bytes_max  // at midnight it has the last hour, too
                                        : growth_factor * (2 * in_filter(hour) + in_filter(day))};
    return made;
}

}  // namespace seriesgate
