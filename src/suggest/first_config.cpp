#include "suggest/first_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <exception>
#include <span>
#include <stdexcept>
#include <vector>

#include "cardinality/suggestions.hpp"
#include "config/config_error.hpp"
#include "config/effective.hpp"
#include "core/text.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"
#include "series/selector.hpp"

namespace seriesgate::from_store {
namespace {

namespace json = boost::json;

/// Prometheus takes no more.
constexpr int entries_max = 10'000;

/// Throws std::exception if it is no number, or larger than a limit may be.
std::uint64_t count_in(const json::value& from) {
    constexpr std::uint64_t limit_max = 1'000'000'000'000;
    const auto count = from.to_number<std::uint64_t>();
    if (count > limit_max / 2) throw std::out_of_range("no store has so many series");
    return count;
}

/// Throws std::exception if the list is missing or of another form.
std::vector<value_count> list_in(const json::object& from, std::string_view key) {
    std::vector<value_count> made;
    for (const json::value& each : from.at(key).as_array()) {
        const json::string& name = each.at("name").as_string();
        made.push_back({{name.data(), name.size()}, count_in(each.at("value"))});
    }
    std::ranges::stable_sort(made, std::greater{}, &value_count::series);
    return made;
}

store_cardinality read_data(const json::object& from) {
    store_cardinality made;
    made.is_of_day = from.contains("totalSeries");
    made.series = count_in(made.is_of_day ? from.at("totalSeries") : from.at("headStats").at("numSeries"));
    made.metrics = list_in(from, "seriesCountByMetricName");
    made.pairs = list_in(from, "seriesCountByLabelValuePair");
    for (const value_count& each : list_in(from, "labelValueCountByLabelName"))
        made.value_counts[each.value] = each.series;
    return made;
}

constexpr std::size_t overrides_max = 5;
constexpr std::size_t groups_shown_max = 10;
constexpr std::size_t shown_bytes_max = 100;
constexpr std::uint64_t groups_max_max = 10'000'000;  ///< a configuration takes no more

/// A head of some hours does not tell how many series a day has.
series_maxima maxima_for(std::uint64_t series, bool is_of_day) {
    const std::uint64_t hourly = suggested_maximum(refusing_window::hourly, series);
    if (!is_of_day) return {.hourly = hourly};
    return {.hourly = hourly, .daily = std::max(hourly, suggested_maximum(refusing_window::daily, series))};
}

/// How many of the largest groups get an override: those before the last fall to less than half.
std::size_t outliers_of(const std::vector<value_count>& groups) {
    std::size_t found = 0;
    for (std::size_t next = 1; next <= overrides_max && next < groups.size(); ++next)
        if (suggested_maximum(refusing_window::hourly, groups[next - 1].series) >
            2 * suggested_maximum(refusing_window::hourly, groups[next].series))
            found = next;
    return found;
}

/// `per-namespace`, `per-metric`; in a limit's name few characters are allowed.
std::string limit_name(std::string_view label) {
    std::string name = "per-" + std::string{label == name_label ? "metric" : label.substr(0, limit_name_bytes_max / 2)};
    for (char& each : name)
        if (!is_identifier_character(each) && each != '-') each = '_';
    return name;
}

label_limit limit_by(std::string_view label, const std::vector<value_count>& groups, const store_cardinality& store) {
    label_limit made;
    made.name = limit_name(label);
    made.each = {std::string{label}};
    if (label != name_label) made.match = *parse_selector(fmt::format("{{{}!=\"\"}}", quoted_text(label)));
    const auto values = store.value_counts.find(label);
    const std::uint64_t different = values == store.value_counts.end() ? groups.size() : values->second;
    made.groups_max =
        std::clamp(suggested_maximum(refusing_window::hourly, different), made.groups_max, groups_max_max);
    const std::size_t outliers = outliers_of(groups);
    made.maxima = maxima_for(groups[outliers].series, store.is_of_day);
    for (const value_count& each : std::span{groups}.first(outliers))
        made.overrides.push_back(
            {.group = {{std::string{label}, each.value}}, .maxima = maxima_for(each.series, store.is_of_day)});
    return made;
}

std::string upstream_text(const store_cardinality& store, const top::client_options& from) {
    const auto key = [](std::string_view name, const std::string& value) {
        return fmt::format("  {}: {}\n", name, file_scalar(value));
    };
    std::string text = "# Where samples go. Another address if the store is written to elsewhere; " +
                       std::string{store.is_of_day ? "VictoriaMetrics takes remote write 1.\n"
                                                   : "Prometheus needs\n# --web.enable-remote-write-receiver.\n"};
    if (from.any_server && from.ca_file.empty())
        text += "# A gate checks certificates: it may need tls: {caFile: FILE}.\n";
    text += "upstream:\n" + key("url", fmt::format("http{}://{}{}/api/v1/write", from.at.tls ? "s" : "",
                                                   from.at.authority, from.at.target.reveal()));
    if (store.is_of_day) text += key("protocol", "v1");
    if (!from.bearer_token_file.empty()) text += key("bearerTokenFile", from.bearer_token_file);
    if (!from.username.empty())
        text += "  basicAuth:\n  " + key("username", from.username) + "  " + key("passwordFile", from.password_file);
    if (!from.ca_file.empty()) text += "  tls:\n  " + key("caFile", from.ca_file);
    return text;
}

std::string groups_text(std::string_view label, const std::vector<value_count>& groups, bool has_overrides) {
    std::string text =
        fmt::format("# By {}, the largest{}:\n", label == name_label ? "metric" : printable(label, 80),
                    has_overrides ? "; outliers have overrides, the limit goes by the largest of the others"
                                  : ", by which the limit goes");
    for (const value_count& each : std::span{groups}.first(std::min(groups_shown_max, groups.size())))
        text += fmt::format("#   {:>13}  {}\n", grouped(each.series), printable(each.value, shown_bytes_max));
    return text;
}

/// Whether it divides series: several values, and few series without the label.
bool divides(const store_cardinality& store, std::string_view label) {
    const std::vector<value_count> groups = groups_of(store, label);
    std::uint64_t sum = 0;
    for (const value_count& each : groups) sum += std::min(each.series, store.series);
    return groups.size() > 1 && sum >= store.series - store.series / 2;
}

}  // namespace

std::string status_target(std::string_view day) {
    std::string target = fmt::format("/api/v1/status/tsdb?limit={0}&topN={0}", entries_max);
    if (!day.empty()) target.append("&date=").append(day);
    return target;
}

result<store_cardinality, std::string> read_status(std::string_view text) try {
    const json::value parsed = json::parse(text);
    return read_data(parsed.at("data").as_object());
} catch (const std::exception&) {
    return std::string{"the answer is not that of a Prometheus or VictoriaMetrics"};
}

std::vector<value_count> groups_of(const store_cardinality& store, std::string_view label) {
    std::vector<value_count> made;
    const bool is_name = label == name_label;
    const std::string prefix = is_name ? "" : std::string{label} + "=";
    for (const value_count& each : is_name ? store.metrics : store.pairs) {
        if (!each.value.starts_with(prefix)) continue;
        std::string value = each.value.substr(prefix.size());
        if (key_part_bytes(value) <= group_key_bytes_max) made.push_back({std::move(value), each.series});
    }
    return made;
}

std::string best_label(const store_cardinality& store) {
    for (const char* const each : {"namespace", "job"})
        if (divides(store, each)) return each;
    return std::string{name_label};
}

std::string first_config(const store_cardinality& store, std::string_view label, const top::client_options& from) {
    const std::vector<value_count> groups = groups_of(store, label);
    limit_rules rules;
    rules.limits.push_back(limit_by(label, groups, store));
    budget_name name;
    name.limit = rules.limits.front().name;
    return fmt::format(
        "# Limits for what {} has, made by seriesgate suggest. They refuse nothing: see mode.\n"
        "# {} 1.5 times the series below, rounded up to two digits, at least 10{}.\n"
        "# Let it observe for some days; then /api/v1/suggestions knows the demand of hours and days "
        "(docs/limits.md).\n\n"
        "{}\nmode: observe\n\n"
        "# All series {}: {}.\n{}\n{}{}",
        printable(from.url, shown_bytes_max), store.is_of_day ? "An hour and a day get" : "An hour gets",
        store.is_of_day ? "" : "; a day is not limited yet (0)", upstream_text(store, from),
        store.is_of_day ? "of the larger of today and yesterday (UTC)" : "in the head, the last two to three hours",
        grouped(store.series),
        *suggested_yaml(rules, demand_scope::global, {}, maxima_for(store.series, store.is_of_day)),
        groups_text(label, groups, !rules.limits.front().overrides.empty()),
        *suggested_yaml(rules, demand_scope::limit, name, rules.limits.front().maxima));
}

}  // namespace seriesgate::from_store
