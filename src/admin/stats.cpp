#include "admin/api.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>
#include <utility>
#include <vector>

#include "admin/delivery_record.hpp"
#include "admin/formatting.hpp"
#include "admin/limit_metrics.hpp"
#include "limit/explain.hpp"

namespace seriesgate {
namespace {

namespace json = boost::json;

json::object to_json(const window_figures& window) {
    return {{"start", utc(window.span.start)},          {"end", utc(window.span.end)},
            {"maxSeries", window.series_max},           {"currentSeries", window.series_current},
            {"refusedSeries", window.series_refused},   {"refusedSeriesExact", window.refused_is_exact},
            {"refusedSamples", window.samples_refused}, {"overLimitSeries", window.series_over_limit},
            {"cutSeries", window.series_cut},           {"falsePositiveRate", window.false_positive_rate},
            {"filterBytes", window.filter_bytes}};
}

/// Room comes back as series go idle, so it has no end.
json::object active_json(const limiter_figures& of) {
    json::object made = to_json(*of.active);
    for (const char* const key : {"start", "end", "cutSeries", "falsePositiveRate", "filterBytes"}) made.erase(key);
    made["windowSeconds"] = std::chrono::seconds{of.active_window}.count();
    made["combinationBytes"] = of.active->filter_bytes;
    return made;
}

json::object with_windows(json::object made, const budget_figures& budget) {
    made["mode"] = to_text(budget.mode);
    made["hourly"] = window_json(budget.hourly);
    made["daily"] = window_json(budget.daily);
    if (budget.active) made["active"] = window_json(*budget.active);
    if (budget.name.overflow) made["note"] = note_on(budget.name);
    return made;
}

json::object tenant_json(const budget_figures& budget) {
    return with_windows({{"tenant", budget.name.tenant}}, budget);
}

json::object limit_json(const budget_figures& budget) {
    json::object made{{"name", budget.name.limit}};
    if (budget.name.has_tenant) made["tenant"] = budget.name.tenant;
    made["group"] = group_json(budget.name.group);
    return with_windows(std::move(made), budget);
}

/// Appends `"names": [...]`, the budgets with most demand first. Serializes each by itself: a tree of all would take
/// ten times the memory of the text.
template <class ToJson>
void append_list(std::string& text, std::string_view name, const std::vector<budget_figures>& budgets,
                 std::uint64_t shown_max, ToJson to_object) {
    auto shown = by_demand(budgets, whole_demand);
    fmt::format_to(std::back_inserter(text), R"(,"{}Total":{},"{}":[)", name, shown.size(), name);
    if (shown.size() > shown_max) shown.resize(shown_max);
    const char* separator = "";
    for (const budget_figures* each : shown) {
        text += std::exchange(separator, ",");
        text += json::serialize(to_object(*each));
    }
    text += ']';
}

json::object to_json(const named_counts& counts) {
    json::object made;
    for (const auto& [name, count] : counts) made[name] = count;
    return made;
}

json::object to_json(const request_counts& requests) {
    return {{"total", requests.total},
            {"rejected", requests.rejected},
            {"upstreamErrors", requests.upstream_errors},
            {"unconfirmed", requests.unconfirmed},
            {"partlyWritten", requests.partly_written},
            {"byStatus", to_json(requests.by_status)},
            {"upstreamByStatus", to_json(requests.upstream_by_status)},
            {"rejectedByReason", to_json(requests.rejected_by_reason)},
            {"upstreamErrorsByReason", to_json(requests.upstream_errors_by_reason)}};
}

json::object to_json(const sample_counts& samples) {
    return {{"received", samples.received}, {"accepted", samples.accepted}, {"refused", samples.refused},
            {"leftOut", samples.left_out},  {"stored", samples.stored},     {"failed", samples.failed}};
}

json::object to_json(const delivery_facts& delivery) {
    return {{"text", to_text(delivery)},
            {"stored", delivery.stored},
            {"failed", delivery.failed},
            {"nothingStoredSince", or_null(delivery.nothing_since)}};
}

json::object refusals_json(const delivery_facts& watched) {
    json::array by_minute;
    for (const std::uint64_t each : watched.refused_by_minute) by_minute.emplace_back(each);
    return {{"watchedSince", utc(watched.watched_since)},
            {"lastRefused", or_null(watched.last_refused)},
            {"samplesByMinute", std::move(by_minute)}};
}

json::object to_json(const dropped_counts& dropped) {
    return {{"unknownEntries", dropped.unknown_entries},
            {"leftOutSeries", to_json(dropped.left_out_series)},
            {"untranslatedSeries", dropped.untranslated_series},
            {"untranslatedHistograms", dropped.untranslated_histograms}};
}

json::object to_json(const connection_counts& connections) {
    return {{"open", connections.open},
            {"accepted", connections.accepted},
            {"givenUpByReason", to_json(connections.given_up_by_reason)},
            {"turnedAwayByReason", to_json(connections.turned_away_by_reason)}};
}

json::object to_json(const backend_counts& backend) {
    return {{"door", backend.name},          {"up", backend.is_up},
            {"inFlight", backend.in_flight}, {"connections", backend.connections},
            {"requests", backend.requests},  {"errors", backend.errors}};
}

json::object to_json(const store_counts& store) {
    json::array backends;
    for (const backend_counts& each : store.backends) backends.push_back(to_json(each));
    json::object made{{"store", store.name}, {"waiting", store.waiting}, {"doors", std::move(backends)}};
    if (store.is_replica)
        made["replica"] = {{"bestEffort", store.best_effort},
                           {"samplesStored", store.samples_stored},
                           {"samplesFailed", store.samples_failed}};
    return made;
}

json::array to_json(const std::vector<store_counts>& stores) {
    json::array made;
    for (const store_counts& each : stores) made.push_back(to_json(each));
    return made;
}

json::object to_json(const fleet_gate_counts& gate) {
    return {{"name", gate.name}, {"version", gate.version}, {"seenSecondsAgo", gate.seen_seconds_ago}};
}

json::object to_json(const shared_counts& shared) {
    json::array gates;
    for (const fleet_gate_counts& each : shared.gates) gates.push_back(to_json(each));
    json::object made{{"state", shared.state}, {"namespace", shared.name_space}, {"gates", std::move(gates)}};
    for (const auto& [name, count] : shared.counts) made[name] = count;
    made["clockOffsetSeconds"] = shared.clock_offset_seconds;
    made["latencySeconds"] = shared.latency_seconds;
    return made;
}

json::object to_json(const warm_counts& warm) {
    return {{"state", warm.state},
            {"series", warm.series},
            {"youngerSeries", warm.younger},
            {"seriesWithoutRoom", warm.without_room},
            {"metricNames", warm.names},
            {"metricNamesRead", warm.names_read},
            {"metricNamesInPart", warm.names_in_part},
            {"metRatio", or_null(warm.met)}};
}

/// Everything but the lists of budgets.
json::object head_json(const process_facts& process, const gate_counts& counts, const limiter_figures& figures) {
    json::object made{{"schemaVersion", 1},
                      {"version", process.version},
                      {"uptimeSeconds", process.uptime.count()},
                      {"mode", to_text(figures.mode)},
                      {"clockInDoubt", figures.clock_in_doubt},
                      {"requests", to_json(counts.requests)},
                      {"samples", to_json(counts.samples)},
                      {"delivery", to_json(counts.delivery)},
                      {"refusals", refusals_json(counts.delivery)},
                      {"dropped", to_json(counts.dropped)},
                      {"connections", to_json(counts.connections)},
                      {"upstreams", to_json(counts.stores)}};
    if (counts.shared) made["shared"] = to_json(*counts.shared);
    if (counts.warm) made["warmStart"] = to_json(*counts.warm);
    made["windows"] = {{"hourly", to_json(figures.hourly)}, {"daily", to_json(figures.daily)}};
    made["exempt"] = {{"hourlySeries", figures.exempt_hourly}, {"dailySeries", figures.exempt_daily}};
    if (figures.active) {
        made["windows"].as_object()["active"] = active_json(figures);
        made["exempt"].as_object()["activeSeries"] = figures.exempt_active;
    }
    return made;
}

}  // namespace

std::string stats_json(const process_facts& process, const gate_counts& counts, const limiter_figures& figures,
                       std::uint64_t shown_max) {
    std::string text = json::serialize(head_json(process, counts, figures));
    text.pop_back();
    append_list(text, "tenants", figures.tenants, shown_max, tenant_json);
    append_list(text, "limits", figures.limits, shown_max, limit_json);
    text += '}';
    return text;
}

}  // namespace seriesgate
