#include "admin/stats.hpp"

#include <fmt/chrono.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>
#include <utility>
#include <vector>

#include "admin/by_demand.hpp"
#include "limit/budget_text.hpp"
#include "limit/figures.hpp"

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

std::uint64_t demand(const budget_figures& of) {
    return of.hourly.series_current + of.hourly.series_refused + of.daily.series_refused;
}

/// `"names": [...]` with those that have the most demand first, so that the head of a long list is what matters. Each
/// is serialized by itself: a tree of all of them would take ten times the memory of the text.
template <class ToJson>
void append_list(std::string& text, std::string_view name, const std::vector<budget_figures>& budgets,
                 std::uint64_t shown_max, ToJson to_object) {
    fmt::format_to(std::back_inserter(text), R"(,"{}Total":{},"{}":[)", name, budgets.size(), name);
    const char* separator = "";
    for (const budget_figures* each : by_demand(budgets, shown_max, demand)) {
        text += std::exchange(separator, ",");
        text += json::serialize(to_object(*each));
    }
    text += ']';
}

}  // namespace

std::string stats_json(std::string_view version, std::chrono::seconds uptime, const request_counts& counts,
                       const limiter_figures& figures, std::uint64_t shown_max) {
    const json::object head{
        {"version", version},
        {"uptimeSeconds", uptime.count()},
        {"mode", to_text(figures.mode)},
        {"clockInDoubt", figures.clock_in_doubt},
        {"requests",
         {{"total", counts.requests}, {"rejected", counts.rejected}, {"upstreamErrors", counts.upstream_errors}}},
        {"samples",
         {{"received", counts.samples_received},
          {"accepted", counts.samples_accepted},
          {"refused", counts.samples_refused},
          {"stored", counts.samples_stored},
          {"failed", counts.samples_failed}}},
        {"windows", {{"hourly", to_json(figures.hourly)}, {"daily", to_json(figures.daily)}}},
        {"exempt", {{"hourlySeries", figures.exempt_hourly}, {"dailySeries", figures.exempt_daily}}}};
    std::string text = json::serialize(head);
    text.pop_back();  // its closing brace
    append_list(text, "tenants", figures.tenants, shown_max, tenant_json);
    append_list(text, "limits", figures.limits, shown_max, limit_json);
    text += '}';
    return text;
}

}  // namespace seriesgate
