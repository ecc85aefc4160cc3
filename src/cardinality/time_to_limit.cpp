#include "cardinality/time_to_limit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "cardinality/demand_history.hpp"

namespace seriesgate {
namespace {

/// A rate over less time is meaningless.
constexpr auto span_min = std::chrono::minutes{1};

/// Budgets whose hashes collide share a count: a wrong rate for a few minutes.
std::uint64_t hash_of(std::string_view key) {
    return std::hash<std::string_view>{}(key);
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
    noted made{.when = now, .has_all = budgets.size() <= budgets_max, .counts = {}};
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

}  // namespace seriesgate
