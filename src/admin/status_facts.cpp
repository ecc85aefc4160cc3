#include "admin/status_facts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "cardinality/cardinality_tables.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

struct both_kinds {
    const cardinality_tables& newly_admitted;
    const cardinality_tables& refused;
};

/// Views, since most rows are dropped before they need texts.
using row_name = std::tuple<std::string_view, std::string_view, std::string_view>;
using rows_by_name = std::map<row_name, top_row>;

std::uint64_t& count_in(top_row& row, series_event kind) {
    return kind == series_event::newly_admitted ? row.newly_admitted : row.refused;
}

void add_all(rows_by_name& rows, const space_saving& from, const cardinality_tables& tables, series_event kind) {
    for (const top_entry& each : from.all()) {
        top_row& row = rows[{each.value, each.detail, {}}];
        count_in(row, kind) += each.series;
        row.error += tables.error_of(each);
    }
}

/// A label of one metric, over new and refused series.
struct both_label {
    top_row row{};
    watched_label merged{};
};
using labels_by_name = std::map<row_name, both_label>;

void add_labels(labels_by_name& labels, const cardinality_tables& tables, series_event kind) {
    const watched_metrics& watched = tables.watched();
    for (std::size_t i = 0; i < watched.metrics().size(); ++i) {
        const top_entry& metric = watched.metrics()[i];
        for (const watched_label& each : watched.watched(i).labels) {
            both_label& label = labels[{each.name, metric.value, metric.tenant}];
            count_in(label.row, kind) += each.series;
            label.row.error += tables.error_of_watched({.series = each.series, .error = each.error + metric.error});
            label.merged.series += each.series;
            label.merged.looked_at += each.looked_at;
            label.merged.values.merge(each.values);
        }
    }
}

template <class Rank>
std::vector<top_row> most(const rows_by_name& rows, Rank rank) {
    std::vector<const rows_by_name::value_type*> sorted;
    for (const auto& each : rows) sorted.push_back(&each);
    const auto shown = std::min(sorted.size(), top_table::rows_max);
    std::ranges::partial_sort(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(shown), std::ranges::greater{},
                              [&](const auto* each) { return rank(each->second); });
    std::vector<top_row> made;
    for (std::size_t i = 0; i < shown; ++i) {
        made.push_back(sorted[i]->second);
        made.back().value = readable(std::get<0>(sorted[i]->first));
        made.back().detail = readable(std::get<1>(sorted[i]->first));
        made.back().tenant = readable(std::get<2>(sorted[i]->first));
    }
    return made;
}

top_table table_of(top_table::sort of, const both_kinds& hour, const space_saving& newly_admitted,
                   const space_saving& refused) {
    rows_by_name rows;
    add_all(rows, newly_admitted, hour.newly_admitted, series_event::newly_admitted);
    add_all(rows, refused, hour.refused, series_event::refused);
    return {.of = of, .rows = most(rows, [](const top_row& row) { return row.newly_admitted + row.refused; })};
}

/// Adds a metric to a row of several. Keeps the values of the metric with most: the others have the same.
void add_metric(top_row& to, const top_row& more) {
    ++to.metrics;
    to.newly_admitted += more.newly_admitted;
    to.refused += more.refused;
    to.error += more.error;
    if (more.distinct_values <= to.distinct_values) return;
    to.distinct_values = more.distinct_values;
    to.values_are_exact = more.values_are_exact;
}

/// Labels with fewer values are not shown.
constexpr std::uint64_t values_min = 10;

/// Number of values, scaled to all series of the metric, as in findings.
value_count values_of(const row_name& name, const both_label& label, const std::vector<subject>& metrics) {
    const auto& [of_label, of_metric, of_tenant] = name;
    for (const subject& each : metrics) {
        if (each.name->value != of_metric || each.name->tenant != of_tenant) continue;
        const auto found = std::ranges::find(each.watched.labels, of_label, &watched_label::name);
        if (found != each.watched.labels.end()) return each.values(*found);
    }
    return count_values(label.merged);
}

top_table labels_of(const both_kinds& hour) {
    const std::vector<subject> metrics = metrics_of(hour.newly_admitted, hour.refused);
    labels_by_name labels;
    add_labels(labels, hour.newly_admitted, series_event::newly_admitted);
    add_labels(labels, hour.refused, series_event::refused);
    rows_by_name rows;
    for (auto& [name, label] : labels) {
        const value_count values = values_of(name, label, metrics);
        label.row.distinct_values = values.values;
        label.row.values_are_exact = values.is_exact;
        if (label.row.distinct_values < values_min) continue;
        // All metrics of a new target have these labels: one row for all of them.
        const bool is_of_targets = std::ranges::find(target_labels, std::get<0>(name)) != target_labels.end();
        const auto [at, is_new] =
            rows.try_emplace(is_of_targets ? row_name{std::get<0>(name), {}, std::get<2>(name)} : name, label.row);
        if (!is_new) add_metric(at->second, label.row);
    }
    return {.of = top_table::sort::labels, .rows = most(rows, [](const top_row& row) { return row.distinct_values; })};
}

std::vector<top_table> tables_of(const both_kinds& hour, const std::vector<std::string>& counted_labels) {
    using sort = top_table::sort;
    std::vector<top_table> made;
    made.push_back(
        table_of(sort::metrics, hour, hour.newly_admitted.metrics().in_all(), hour.refused.metrics().in_all()));
    made.push_back(labels_of(hour));
    made.push_back(
        table_of(sort::senders, hour, hour.newly_admitted.senders().in_all(), hour.refused.senders().in_all()));
    for (const std::string& label : counted_labels) {
        const cardinality_table* const newly_admitted = hour.newly_admitted.values_of(label);
        const cardinality_table* const refused = hour.refused.values_of(label);
        if (newly_admitted == nullptr || refused == nullptr) continue;
        made.push_back(table_of(sort::values, hour, newly_admitted->in_all(), refused->in_all()));
        made.back().label = label;
    }
    made.push_back(table_of(sort::tenants, hour, hour.newly_admitted.tenants(), hour.refused.tenants()));
    if (made.back().rows.size() < 2 && (made.back().rows.empty() || made.back().rows.front().value.empty()))
        made.pop_back();  // no sender names a tenant
    std::erase_if(made, [](const top_table& each) { return each.rows.empty(); });
    return made;
}

bool is_same(const finding& one, const finding& other) {
    return one.what == other.what && one.tenant == other.tenant && one.label == other.label &&
           one.metrics.empty() == other.metrics.empty() &&
           (one.metrics.empty() || one.metrics.front() == other.metrics.front());
}

/// Scales the refused series of each finding to the number shown on the page. @param counted the number in the tables.
void fit_refused(std::vector<finding>& all, std::uint64_t counted, std::uint64_t shown) {
    for (finding& each : all) {
        if (each.is_exact || counted == 0) continue;
        const double part = static_cast<double>(each.refused) / static_cast<double>(counted);
        const auto fitted = static_cast<std::uint64_t>(std::llround(part * static_cast<double>(shown)));
        each.series += fitted - each.refused;
        each.refused = fitted;
    }
}

std::vector<finding> explosions_among(const both_kinds& tables, cardinality_window window, const status_facts& of) {
    std::vector<finding> made = find_explosions(tables.newly_admitted, tables.refused, {}, of.samples);
    if (window == cardinality_window::hourly) fit_refused(made, tables.refused.total(), refused_now(of).series);
    const delivery_facts& delivery = of.counts.delivery;
    mark_over(made, of.now, {.watched_since = delivery.watched_since, .last = delivery.last_refused});
    return made;
}

}  // namespace

series_count refused_now(const status_facts& of) noexcept {
    const series_count by_hours_limits{of.figures.hourly.series_refused, of.figures.hourly.refused_is_exact};
    if (of.figures.mode == limit_mode::observe || of.hours.empty()) return by_hours_limits;
    const series_count by_all{of.hours.back().refused, of.hours.back().is_exact};
    const bool are_the_same = of.figures.daily.series_refused == 0 &&
                              (!of.figures.active || of.figures.active->series_refused == 0) && !of.counts.shared;
    const bool is_better = by_hours_limits.series > by_all.series || (are_the_same && !by_all.is_exact);
    return is_better ? by_hours_limits : by_all;
}

series_count refused_before(const status_facts& of) noexcept {
    series_count sum;
    for (std::size_t i = 0; i + 1 < of.hours.size(); ++i) {
        if (of.hours[i].start < of.figures.daily.span.start) continue;
        sum.series += of.hours[i].refused;
        sum.is_exact = sum.is_exact && of.hours[i].is_exact;
    }
    return sum;
}

std::vector<finding> explosions_in(cardinality_window window, cardinality_tracker& tracker, const status_facts& of) {
    const cardinality_tables newly_admitted = tracker.tables(series_event::newly_admitted, window);
    const cardinality_tables turned_down = tracker.tables(series_event::refused, window);
    return explosions_among({.newly_admitted = newly_admitted, .refused = turned_down}, window, of);
}

void add_cardinality(status_facts& to, cardinality_tracker& tracker, refused_ring& refused,
                     const std::vector<std::string>& ignored_labels) {
    to.hours = tracker.hours();
    to.refused = refused.all();
    to.samples = tracker.samples();
    to.samples.admitted = to.figures.hourly.series_current;
    to.samples.ignored_labels = ignored_labels;
    {
        const cardinality_tables newly_admitted =
            tracker.tables(series_event::newly_admitted, cardinality_window::hourly);
        const cardinality_tables turned_down = tracker.tables(series_event::refused, cardinality_window::hourly);
        const both_kinds hour{.newly_admitted = newly_admitted, .refused = turned_down};
        to.of_hour = explosions_among(hour, cardinality_window::hourly, to);
        to.top = tables_of(hour, tracker.labels());
    }
    for (const finding& each : to.of_hour)
        if (each.what == explosion::growth || each.what == explosion::targets) to.growing.insert(each.tenant);
    const auto cut = [](std::vector<finding>& all) { all.resize(std::min(all.size(), findings_max)); };
    cut(to.of_hour);
    to.of_day = explosions_in(cardinality_window::daily, tracker, to);
    std::erase_if(to.of_day, [&](const finding& each) {
        return std::ranges::any_of(to.of_hour, [&](const finding& other) { return is_same(each, other); });
    });
    cut(to.of_day);
}

}  // namespace seriesgate
