#include "admin/who_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/json_text.hpp"
#include "limit/explain.hpp"
#include "series/label.hpp"
#include "series/selector.hpp"
#include "talkers/remedy.hpp"

namespace seriesgate {
namespace {

namespace json = boost::json;

/// Of an answer with the refused series: those with long labels are few then.
constexpr std::size_t refused_bytes_max = 4u << 20;

std::string utc(time_point moment) {
    return seriesgate::utc(std::chrono::floor<std::chrono::seconds>(moment));
}

std::string_view name_of(talker_window window) noexcept {
    return window == talker_window::hourly ? "hourly" : "daily";
}

/// One with the most series, and what it is sorted by.
struct ranked {
    std::uint64_t rank = 0;
    json::object shown{};
};

json::array most(std::vector<ranked> all, std::uint64_t shown_max) {
    std::ranges::stable_sort(all, std::ranges::greater{}, &ranked::rank);
    json::array made;
    for (ranked& each : all) {
        if (made.size() >= shown_max) break;
        made.push_back(std::move(each.shown));
    }
    return made;
}

json::object to_json(const talker& one, std::uint64_t error) {
    return {{"value", readable(one.value)},
            {"series", one.series},
            {"error", error},
            {"firstSeen", utc(one.first_seen)},
            {"lastSeen", utc(one.last_seen)}};
}

bool is_of(const talker& one, const api_question& asked) {
    return !asked.tenant || one.tenant == *asked.tenant;
}

json::array top_of(const space_saving& from, const talker_tables& tables, const api_question& asked) {
    std::vector<ranked> all;
    for (const talker& each : from.all()) {
        if (!is_of(each, asked)) continue;
        json::object shown = to_json(each, tables.error_of(each));
        if (asked.by == "sender") shown["userAgent"] = readable(each.detail);
        if (asked.tenant) shown["tenant"] = readable(each.tenant);
        all.push_back({.rank = each.series, .shown = std::move(shown)});
    }
    return most(std::move(all), asked.shown_max);
}

/// Labels of the metrics that are watched, those with the most values first.
json::array top_labels(const talker_tables& tables, const api_question& asked) {
    std::vector<ranked> all;
    const watched_metrics& watched = tables.watched();
    for (std::size_t i = 0; i < watched.metrics().size(); ++i) {
        const talker& metric = watched.metrics()[i];
        if (!is_of(metric, asked)) continue;
        for (const watched_label& each : watched.watched(i).labels) {
            talker label = metric;
            label.value = each.name;
            label.series = each.series;
            label.error = each.error;
            const value_count values = count_values(each);
            json::object shown = to_json(label, tables.error_of_watched(label));
            shown["metric"] = readable(metric.value);
            shown["tenant"] = readable(metric.tenant);
            shown["distinctValues"] = values.values;
            all.push_back({.rank = values.values, .shown = std::move(shown)});
        }
    }
    return most(std::move(all), asked.shown_max);
}

std::string_view name_of(explosion what) noexcept {
    switch (what) {
        case explosion::label:
            return "label";
        case explosion::buckets:
            return "buckets";
        case explosion::metric_names:
            return "metricNames";
        case explosion::tenants:
            return "tenants";
        case explosion::targets:
            return "targets";
        case explosion::growth:
            break;
    }
    return "growth";
}

json::object to_json(const finding& found, const sampled& samples, talker_window window) {
    json::array metrics, labels;
    for (const std::string& each : found.metrics) metrics.emplace_back(readable(each));
    for (const std::string& each : found.labels) labels.emplace_back(readable(each));
    const remedy stop = remedy_of(found, samples);
    return {{"window", name_of(window)},
            {"kind", name_of(found.what)},
            {"tenant", readable(found.tenant)},
            {"metric", found.metrics.empty() ? std::string{} : readable(found.metrics.front())},
            {"metrics", std::move(metrics)},
            {"label", readable(found.label)},
            {"labels", std::move(labels)},
            {"distinctValues", found.values.values},
            {"series", found.series},
            {"refused", found.refused},
            {"job", readable(found.job)},
            {"sender", readable(found.sender)},
            {"userAgent", readable(found.agent)},
            {"since", utc(found.since)},
            {"overSince", found.over_since ? json::value(utc(*found.over_since)) : json::value(nullptr)},
            {"text", to_text(found)},
            {"remedy", json::object{{"relabel", stop.relabel},
                                    {"limit", stop.limit},
                                    {"note", stop.note},
                                    {"wouldTake", stop.would_take},
                                    {"remembered", stop.remembered},
                                    {"known", stop.known}}}};
}

json::object to_json(const refused_series& one) {
    json::object labels;
    for (const auto& [name, value] : one.labels) labels[readable(name)] = readable(value);
    return {{"labels", std::move(labels)},
            {"labelsCut", one.is_cut},
            {"tenant", readable(one.tenant)},
            {"reason", reason_of(one)},
            {"limit", one.limit},
            {"window", to_text(one.window)},
            {"sender", readable(one.sender)},
            {"userAgent", readable(one.agent)},
            {"time", utc(one.when)}};
}

std::vector<label_view> labels_of(const refused_series& one) {
    std::vector<label_view> labels;
    labels.reserve(one.labels.size());
    for (const auto& [name, value] : one.labels) labels.push_back({name, value});
    return labels;
}

}  // namespace

std::string top_json(talkers& who, const api_question& asked) {
    const talker_tables tables = who.tables(asked.kind, asked.window);
    if (asked.by == "label") return success_json(top_labels(tables, asked));
    if (asked.by == "tenant") return success_json(top_of(tables.tenants(), tables, asked));
    const talker_table* const table = asked.by == "metric"   ? &tables.metrics()
                                      : asked.by == "sender" ? &tables.senders()
                                                             : tables.values_of(asked.by);
    if (table == nullptr) return success_json(json::array{});
    return success_json(top_of(asked.tenant ? table->by_tenant() : table->in_all(), tables, asked));
}

std::string findings_json(talkers& who, const api_question& asked, const status_facts& of) {
    json::array made;
    for (const finding& each : explosions_in(asked.window, who, of))
        if ((!asked.tenant || each.tenant == *asked.tenant) && made.size() < asked.shown_max)
            made.push_back(to_json(each, of.samples, asked.window));
    return success_json(std::move(made));
}

std::string refused_json(refused_ring& refused, const api_question& asked) {
    const auto parsed = parse_selector(asked.match);
    const selector wanted = parsed ? *parsed : selector{};
    json::array made;
    std::size_t bytes = 0, looked_at = 0;
    std::uint64_t work_left = question_work_max;
    const auto all = refused.all();
    for (const auto& each : all) {
        if (made.size() >= asked.shown_max || bytes > refused_bytes_max) break;
        const auto labels = labels_of(*each);
        const std::uint64_t work = question_work(wanted, labels);
        if (work > work_left)
            return success_json(std::move(made),
                                fmt::format("match asks for too much work: the last {} of {} series were looked at",
                                            looked_at, all.size()));
        work_left -= work;
        ++looked_at;
        if ((asked.tenant && each->tenant != *asked.tenant) || !wanted.matches(labels)) continue;
        for (const auto& [name, value] : each->labels) bytes += name.size() + value.size();
        made.push_back(to_json(*each));
    }
    return success_json(std::move(made));
}

}  // namespace seriesgate
