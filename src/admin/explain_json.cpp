#include "admin/explain_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <utility>

#include "admin/json_text.hpp"
#include "limit/explain.hpp"
#include "limit/limiter.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

namespace json = boost::json;

/// Of the text of a series; its labels are as long as an answer may be asked for.
constexpr std::size_t series_text_bytes_max = 16 * 1024;

std::string_view decision_of(const explanation& of) noexcept {
    if (of.in_hour) return "known";
    return of.refused ? "refused" : "admitted";
}

const applying_budget* budget_of(const explanation& of, limit_number limit) {
    const auto found = std::ranges::find(of.budgets, limit, &applying_budget::limit);
    return found == of.budgets.end() ? nullptr : &*found;
}

/// `maxHourlySeries 3 is spent (3 series admitted)`, with whose it is in front; or that the rest is kept for others.
std::string spent_text(const explanation& of, const series_limiter& limiter) {
    const refusing_window window = window_of(of.refused->how);
    const applying_budget* const by = budget_of(of, of.refused->by);
    if (by == nullptr) return fmt::format("limit {}, {}", limiter.limit_name(of.refused->by), to_text(window));
    std::string text = to_text(spent_budget{.figures = by->figures, .window = window});
    const auto& counts = window == refusing_window::hourly ? by->figures.hourly : by->figures.daily;
    const bool is_kept = (window == refusing_window::hourly ? by->spent.hour : by->spent.day) &&
                         counts.series_current < counts.series_max;
    return is_kept ? text + ", and the rest is kept for series of the hour before" : text;
}

std::string why_refused(const explanation& of, const series_limiter& limiter) {
    if (of.refused_lately)
        return fmt::format("refused lately, which is remembered until there may be room again: {}",
                           spent_text(of, limiter));
    if (of.with_histogram)
        return fmt::format("its histogram was refused, and a histogram is admitted whole or not at all: {}",
                           spent_text(of, limiter));
    return spent_text(of, limiter);
}

std::string why(const explanation& of, const series_limiter& limiter) {
    if (of.in_hour) return "the hour's set has it: it is accepted, and no limit is asked";
    std::string text;
    if (of.refused) {
        text = why_refused(of, limiter);
    } else if (of.exempt) {
        text =
            of.beyond_exemption
                ? "it is exempt, but maxExemptSeries has no room for it: every limit that applies has, or only observes"
                : "it is exempt: it counts in maxExemptSeries, and in no other limit";
    } else if (of.completing.any()) {
        text = "there is no room, but its histogram has begun and is completed";
    } else if (of.is_incumbent) {
        text = "it was there in the hour before, and room is kept for it";
    } else {
        text = "every limit that applies has room, or only observes";
    }
    return of.asks_store ? text + "; this is what this gate knows, and the store of its fleet decides" : text;
}

/// When it was admitted at the latest, as far as the sets can tell.
json::value known_since(const explanation& of) {
    if (!of.in_hour) return nullptr;
    const bool was_before = of.in_hour_before.value_or(false);
    const auto hour = was_before ? of.hour.start - std::chrono::hours{1} : of.hour.start;
    return json::object{{"hour", utc(hour)}, {"orBefore", was_before || !of.in_hour_before}};
}

json::object window_json(const budget_window_figures& figures, const std::optional<std::uint64_t>& room,
                         bool has_room) {
    json::object made{{"maxSeries", figures.series_max},
                      {"currentSeries", figures.series_current},
                      {"refusedSeries", figures.series_refused},
                      {"refusedSeriesExact", figures.refused_is_exact}};
    made["room"] = room ? json::value(*room) : json::value(nullptr);
    made["hasRoom"] = has_room;
    return made;
}

json::object to_json(const applying_budget& budget, const series_limiter& limiter) {
    const budget_name& name = budget.figures.name;
    json::object made{{"limit", limiter.limit_name(budget.limit)}};
    if (name.has_tenant) made["tenant"] = name.tenant;
    made["group"] = group_json(name.group);
    made["mode"] = to_text(budget.figures.mode);
    made["exists"] = budget.exists;
    made["hourly"] = window_json(budget.figures.hourly, budget.hourly_room, !budget.spent.hour);
    made["daily"] = window_json(budget.figures.daily, budget.daily_room, !budget.spent.day);
    return made;
}

std::string_view histogram_rule(const explanation& of) {
    if (!of.histogram_begun.hour) return "it has not begun in this hour: if this series is refused, so are all of it";
    if (of.refused) return "it has begun in this hour, but as many series as may be are over the limits already";
    return "it has begun in this hour: its series are admitted, over the limits if need be";
}

json::value histogram_json(const explanation& of) {
    if (!of.in_histogram) return nullptr;
    const std::string_view rule = histogram_rule(of);
    return json::object{
        {"begunHourly", of.histogram_begun.hour}, {"begunDaily", of.histogram_begun.day}, {"rule", rule}};
}

json::object sets_json(const explanation& of) {
    json::object made{{"hour", of.in_hour}, {"day", of.in_day}};
    made["hourBefore"] = of.in_hour_before ? json::value(*of.in_hour_before) : json::value(nullptr);
    return made;
}

json::object window_json(const window_span& span) {
    return {{"start", utc(span.start)}, {"end", utc(span.end)}};
}

json::value refused_by_json(const explanation& of, const series_limiter& limiter) {
    if (!of.refused) return nullptr;
    return json::object{{"limit", limiter.limit_name(of.refused->by)}, {"window", to_text(window_of(of.refused->how))}};
}

}  // namespace

std::string explain_json(const series_limiter& limiter, const series_labels& series, std::string_view tenant,
                         const std::optional<explanation>& said) {
    json::object made{{"series", to_text(views_of(series), series_text_bytes_max)}, {"tenant", readable(tenant)}};
    if (!said) {
        made["decision"] = "rejected";
        made["why"] = "its labels ask too much of the rules: a request with them is answered 400";
        return success_json(std::move(made));
    }
    const explanation& of = *said;
    made["decision"] = decision_of(of);
    made["why"] = why(of, limiter);
    made["refusedBy"] = refused_by_json(of, limiter);
    made["known"] = of.in_hour;
    made["knownSince"] = known_since(of);
    made["sets"] = sets_json(of);
    made["falsePositiveRate"] = of.false_positive_rate;
    made["refusedLately"] = of.refused_lately.has_value();
    made["exempt"] = of.exempt;
    made["incumbent"] = of.is_incumbent;
    made["storeDecides"] = of.asks_store;
    made["wholeHistogram"] = histogram_json(of);
    made["windows"] = json::object{{"hourly", window_json(of.hour)}, {"daily", window_json(of.day)}};
    json::array budgets;
    for (const applying_budget& each : of.budgets) budgets.push_back(to_json(each, limiter));
    made["budgets"] = std::move(budgets);
    return success_json(std::move(made));
}

}  // namespace seriesgate
