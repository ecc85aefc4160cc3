#include "admin/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "admin/formatting.hpp"
#include "cardinality/remedy.hpp"
#include "config/effective.hpp"
#include "limit/limiter.hpp"
#include "series/label.hpp"
#include "series/selector.hpp"

namespace seriesgate {
namespace {

namespace json = boost::json;

/// A request's labels may be this long.
constexpr std::size_t series_text_bytes_max = 16 * 1024;

const applying_budget* budget_of(const explanation& of, limit_number limit) {
    const auto found = std::ranges::find(of.budgets, limit, &applying_budget::limit);
    return found == of.budgets.end() ? nullptr : &*found;
}

/// For example `maxHourlySeries 3 is spent (3 series admitted)`, or that the rest is reserved for carried-over series.
std::string spent_text(const explanation& of, const series_limiter& limiter) {
    const refusing_window window = window_of(of.refused->how);
    const applying_budget* const by = budget_of(of, of.refused->limit);
    if (by == nullptr) return fmt::format("limit {}, {}", limiter.limit_name(of.refused->limit), to_text(window));
    const spent_budget spent{.figures = by->figures, .window = window};
    return to_text(spent).append(is_in(window, by->spent) ? rest_text(spent) : "");
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
    if (of.in_hour)
        return std::string{"the hour's set has it: it is accepted, and no limit is asked"}.append(
            !of.is_active   ? ""
            : *of.is_active ? "; it is active"
                            : "; it is idle, and will be active again");
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

/// The hour in which it was admitted at the latest, as far as the sets can tell.
json::value known_since(const explanation& of) {
    if (!of.in_hour) return nullptr;
    const bool was_before = of.in_hour_before.value_or(false);
    const auto hour = was_before ? of.hour.start - std::chrono::hours{1} : of.hour.start;
    return json::object{{"hour", utc(hour)}, {"orBefore", was_before || !of.in_hour_before}};
}

json::object window_json(const budget_window_figures& figures, const std::optional<std::uint64_t>& room,
                         bool has_room) {
    json::object made = window_json(figures);
    made["room"] = or_null(room);
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
    if (budget.figures.active)
        made["active"] = window_json(*budget.figures.active, budget.active_room, !budget.spent.active);
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

json::object window_json(const window_span& span) {
    return {{"start", utc(span.start)}, {"end", utc(span.end)}};
}

json::value refused_by_json(const explanation& of, const series_limiter& limiter) {
    if (!of.refused) return nullptr;
    return json::object{{"limit", limiter.limit_name(of.refused->limit)},
                        {"window", to_text(window_of(of.refused->how))}};
}

/// By demand_scope.
constexpr std::array<std::string_view, 5> scope_names{"global", "tenants", "tenant", "limit", "group"};

json::object to_json(const window_suggestion& of) {
    std::optional<std::int64_t> seconds;
    if (of.exhausted_in) seconds = of.exhausted_in->count();
    return {{"maxSeries", of.series_max},
            {"demand", of.demand},
            {"peak", of.peak},
            {"typical", or_null(of.typical)},
            {"windows", of.windows},
            {"suggested", or_null(of.suggested)},
            {"headroom", or_null(of.headroom)},
            {"exhaustedInSeconds", or_null(seconds)}};
}

json::object to_json(const suggestion& of, const limit_rules& rules) {
    json::object made{{"budget", scope_names[static_cast<std::size_t>(of.scope)]}};
    if (!of.name.limit.empty()) made["limit"] = of.name.limit;
    if (of.name.has_tenant) made["tenant"] = of.name.tenant;
    if (of.scope == demand_scope::group) made["group"] = group_json(of.name.group);
    made["mode"] = to_text(of.mode);
    made["hourly"] = to_json(of.hourly);
    made["daily"] = to_json(of.daily);
    if (of.active) made["active"] = to_json(*of.active);
    made["yaml"] = or_null(suggested_yaml(rules, of.scope, of.name, of.to_write));
    return made;
}

constexpr std::size_t refused_bytes_max = 4u << 20;

/// An entry with the number that it is sorted by.
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

json::object to_json(const top_entry& one, std::uint64_t error) {
    return {{"value", readable(one.value)},
            {"series", one.series},
            {"error", error},
            {"firstSeen", utc(one.first_seen)},
            {"lastSeen", utc(one.last_seen)}};
}

bool is_of(const top_entry& one, const api_question& asked) {
    return !asked.tenant || one.tenant == *asked.tenant;
}

json::array top_of(const space_saving& from, const cardinality_tables& tables, const api_question& asked) {
    std::vector<ranked> all;
    for (const top_entry& each : from.all()) {
        if (!is_of(each, asked)) continue;
        json::object shown = to_json(each, tables.error_of(each));
        if (asked.by == "sender") shown["userAgent"] = readable(each.detail);
        if (asked.tenant) shown["tenant"] = readable(each.tenant);
        all.push_back({.rank = each.series, .shown = std::move(shown)});
    }
    return most(std::move(all), asked.shown_max);
}

/// Labels of the watched metrics, those with most values first.
json::array top_labels(const cardinality_tables& tables, const api_question& asked) {
    std::vector<ranked> all;
    const watched_metrics& watched = tables.watched();
    for (std::size_t i = 0; i < watched.metrics().size(); ++i) {
        const top_entry& metric = watched.metrics()[i];
        if (!is_of(metric, asked)) continue;
        for (const watched_label& each : watched.watched(i).labels) {
            top_entry label = metric;
            label.value = each.name;
            label.series = each.series;
            label.error = each.error + metric.error;  // before it came back its labels were not counted
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

/// By explosion.
constexpr std::array<std::string_view, 6> kinds{"label", "buckets", "metricNames", "tenants", "targets", "growth"};

json::object to_json(const finding& found, const sampled& samples, cardinality_window window) {
    json::array metrics, labels;
    for (const std::string& each : found.metrics) metrics.emplace_back(readable(each));
    for (const std::string& each : found.labels) labels.emplace_back(readable(each));
    const remedy stop = remedy_of(found, samples);
    return {{"window", std::string_view{window == cardinality_window::hourly ? "hourly" : "daily"}},
            {"kind", kinds[static_cast<std::size_t>(found.what)]},
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
            {"overSince", or_null(found.over_since)},
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

}  // namespace

std::string explain_json(const series_limiter& limiter, const series_labels& series, std::string_view tenant,
                         const std::optional<explanation>& found, std::string_view meanwhile) {
    json::object made{{"series", to_text(label_views(series), series_text_bytes_max)}, {"tenant", readable(tenant)}};
    if (!found) {
        made["decision"] = "rejected";
        made["why"] = "its labels ask too much of the rules: a request with them is answered 400";
        return success_json(std::move(made));
    }
    const explanation& of = *found;
    made["decision"] = of.in_hour ? "known" : of.refused ? "refused" : "admitted";
    made["why"] = why(of, limiter).append(of.in_hour ? "" : meanwhile);
    made["refusedBy"] = refused_by_json(of, limiter);
    made["known"] = of.in_hour;
    made["knownSince"] = known_since(of);
    made["sets"] = json::object{{"hour", of.in_hour}, {"day", of.in_day}, {"hourBefore", or_null(of.in_hour_before)}};
    if (of.is_active) made["active"] = json::object{{"active", *of.is_active}, {"lastSeen", or_null(of.last_seen)}};
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

std::string suggestions_json(const suggestion_list& list, const limit_rules& rules) {
    json::array made;
    for (const suggestion& each : list.shown) made.push_back(to_json(each, rules));
    return success_json(std::move(made));
}

std::string top_json(cardinality_tracker& tracker, const api_question& asked) {
    const cardinality_tables tables = tracker.tables(asked.kind, asked.window);
    if (asked.by == "label") return success_json(top_labels(tables, asked));
    if (asked.by == "tenant") return success_json(top_of(tables.tenants(), tables, asked));
    const cardinality_table* const table = asked.by == "metric"   ? &tables.metrics()
                                           : asked.by == "sender" ? &tables.senders()
                                                                  : tables.values_of(asked.by);
    if (table == nullptr) return success_json(json::array{});
    return success_json(top_of(asked.tenant ? table->by_tenant() : table->in_all(), tables, asked));
}

std::string findings_json(cardinality_tracker& tracker, const api_question& asked, const status_facts& of) {
    json::array made;
    const auto shown_max = std::min<std::uint64_t>(asked.shown_max, findings_max);  // to try rules takes time
    for (const finding& each : explosions_in(asked.window, tracker, of))
        if ((!asked.tenant || each.tenant == *asked.tenant) && made.size() < shown_max)
            made.push_back(to_json(each, of.samples, asked.window));
    return success_json(std::move(made));
}

std::string refused_json(refused_ring& refused, const api_question& asked) {
    const auto parsed = parse_selector(asked.match, question_bounds);
    const selector wanted = parsed ? *parsed : selector{};
    json::array made;
    std::size_t bytes = 0, looked_at = 0;
    std::uint64_t work_left = question_work_max;
    const auto all = refused.all();
    for (const auto& each : all) {
        if (made.size() >= asked.shown_max) break;
        if (bytes > refused_bytes_max)
            return success_json(
                std::move(made),
                fmt::format("the answer is full: the last {} of {} series were looked at", looked_at, all.size()));
        const auto labels = label_views(each->labels);
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
