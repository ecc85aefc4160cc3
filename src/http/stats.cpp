#include "http/stats.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <functional>
#include <utility>

#include "http/budget_text.hpp"

namespace seriesgate {
namespace {

namespace json = boost::json;

std::string utc(std::chrono::sys_seconds moment) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(moment)));
}

json::object to_json(const window_figures& window) {
    return {{"start", utc(window.span.start)},
            {"end", utc(window.span.end)},
            {"maxSeries", window.series_max},
            {"currentSeries", window.series_current},
            {"refusedSeries", window.series_refused},
            {"refusedSamples", window.samples_refused},
            {"overLimitSeries", window.series_over_limit},
            {"falsePositiveRate", window.false_positive_rate},
            {"filterBytes", window.filter_bytes}};
}

json::object to_json(const budget_window_figures& window) {
    return {{"maxSeries", window.series_max},
            {"currentSeries", window.series_current},
            {"refusedSeries", window.series_refused}};
}

json::object tenant_json(const budget_figures& budget) {
    return {{"tenant", budget.name.tenant}, {"hourly", to_json(budget.hourly)}, {"daily", to_json(budget.daily)}};
}

json::object limit_json(const budget_figures& budget) {
    json::object group;
    for (const auto& [label, value] : budget.name.group) group[label] = value;
    json::object made{{"name", budget.name.limit}};
    if (budget.name.has_tenant) made["tenant"] = budget.name.tenant;
    made["group"] = std::move(group);
    made["mode"] = to_text(budget.mode);
    made["hourly"] = to_json(budget.hourly);
    made["daily"] = to_json(budget.daily);
    return made;
}

/// Those with the most demand first, so that the head of a long list is what matters.
template <class ToJson>
json::array to_json(std::vector<budget_figures> budgets, ToJson to_object) {
    const auto demand = [](const budget_figures& of) {
        return of.hourly.series_current + of.hourly.series_refused + of.daily.series_refused;
    };
    std::ranges::stable_sort(budgets, std::greater{}, demand);
    json::array made;
    for (const budget_figures& each : budgets) made.push_back(to_object(each));
    return made;
}

}  // namespace

std::string stats_json(std::string_view version, std::chrono::seconds uptime, const gate_metrics& metrics,
                       const admission_figures& figures) {
    const json::object stats{
        {"version", version},
        {"uptimeSeconds", uptime.count()},
        {"mode", to_text(figures.mode)},
        {"requests",
         {{"total", metrics.requests_answered()},
          {"rejected", metrics.requests_rejected_4xx()},
          {"upstreamErrors", metrics.upstream_errors_total()}}},
        {"samples",
         {{"received", metrics.samples_received.value()},
          {"accepted", metrics.samples_accepted.value()},
          {"refused", metrics.samples_refused.value()},
          {"stored", metrics.samples_stored.value()},
          {"failed", metrics.samples_failed.value()}}},
        {"windows", {{"hourly", to_json(figures.hourly)}, {"daily", to_json(figures.daily)}}},
        {"exempt", {{"hourlySeries", figures.exempt_hourly}, {"dailySeries", figures.exempt_daily}}},
        {"tenants", to_json(figures.tenants, tenant_json)},
        {"limits", to_json(figures.limits, limit_json)}};
    return json::serialize(stats);
}

}  // namespace seriesgate
