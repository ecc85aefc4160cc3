#include "demand/demand_rates.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "demand/demand_key.hpp"

namespace seriesgate {
namespace {

/// Less tells nothing.
constexpr auto span_min = std::chrono::minutes{1};

std::uint64_t count_in(const budget_figures& of, demand_window window) {
    return window == demand_window::hourly ? of.hourly.series_current : of.daily.series_current;
}

/// Two that meet have one another's count: a wrong rate for a few minutes.
std::uint64_t hash_of(std::string_view key) {
    return std::hash<std::string_view>{}(key);
}

}  // namespace

bool demand_rates::track::is_due(time_point now, std::chrono::sys_seconds start) const {
    if (now < start + settling) return false;
    return window != start || !newer || now >= newer->when + spacing || now < newer->when;
}

bool demand_rates::is_due(time_point now, std::chrono::sys_seconds hour, std::chrono::sys_seconds day) const {
    return hourly_.is_due(now, hour) || daily_.is_due(now, day);
}

void demand_rates::note(time_point now, const limiter_figures& figures) {
    if (hourly_.is_due(now, figures.hourly.span.start)) note_in(hourly_, now, figures, demand_window::hourly);
    if (daily_.is_due(now, figures.daily.span.start)) note_in(daily_, now, figures, demand_window::daily);
}

void demand_rates::note_in(track& into, time_point now, const limiter_figures& figures, demand_window window) {
    std::vector<const budget_figures*> budgets;
    for (const auto* all : {&figures.tenants, &figures.limits})
        for (const budget_figures& each : *all) budgets.push_back(&each);
    noted made{.when = now, .has_all = budgets.size() <= budgets_max, .counts = {}};
    if (!made.has_all) {
        const auto count = [window](const budget_figures* each) { return count_in(*each, window); };
        std::ranges::nth_element(budgets, budgets.begin() + budgets_max, std::greater{}, count);
        budgets.resize(budgets_max);
    }
    for (const budget_figures* each : budgets)
        made.counts.emplace(hash_of(demand_key(scope_of(each->name), each->name)), count_in(*each, window));
    made.counts.emplace(hash_of(demand_key(demand_scope::global, {})), count_in(figures.global, window));
    const auto start = window == demand_window::hourly ? figures.hourly.span.start : figures.daily.span.start;
    const bool goes_on = into.window == start && into.newer && into.newer->when <= now;
    into.older = goes_on ? std::move(into.newer) : std::nullopt;
    into.newer = std::move(made);
    into.window = start;
}

std::optional<std::chrono::seconds> demand_rates::exhausted_in(std::string_view key, const filling& of,
                                                               time_point now) const {
    if (of.series_max == 0) return std::nullopt;
    if (of.series_current >= of.series_max) return std::chrono::seconds{0};
    const track& in = of.window == demand_window::hourly ? hourly_ : daily_;
    if (in.window != of.span.start || !in.newer) return std::nullopt;
    const noted& from = in.older ? *in.older : *in.newer;
    if (now < from.when + span_min) return std::nullopt;
    const auto found = from.counts.find(hash_of(key));
    if (found == from.counts.end() && !from.has_all) return std::nullopt;
    const std::uint64_t before = found == from.counts.end() ? 0 : found->second;
    if (of.series_current <= before) return std::nullopt;
    const double seconds = std::chrono::duration<double>(now - from.when).count();
    const double rate = static_cast<double>(of.series_current - before) / seconds;
    const double left = static_cast<double>(of.series_max - of.series_current) / rate;
    if (left >= std::chrono::duration<double>(of.span.end - now).count()) return std::nullopt;
    return std::chrono::seconds{static_cast<std::int64_t>(std::ceil(left))};
}

}  // namespace seriesgate
