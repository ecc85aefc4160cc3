#include "suggest/store_cardinality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <exception>
#include <stdexcept>

#include "limit/rules.hpp"
#include "series/label.hpp"

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

}  // namespace seriesgate::from_store
