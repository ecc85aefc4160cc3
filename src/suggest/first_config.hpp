/// A gate's first configuration, with limits from what a store has: how many series, as `/api/v1/status/tsdb` of
/// Prometheus and VictoriaMetrics says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "top/subcommand.hpp"

namespace seriesgate::from_store {

struct value_count {
    std::string value;
    std::uint64_t series = 0;

    friend bool operator==(const value_count&, const value_count&) = default;
};

struct store_cardinality {
    bool is_of_day = false;    ///< VictoriaMetrics counts a day (UTC), Prometheus its head
    std::uint64_t series = 0;  ///< all
    /// By metric, and by label and value as `job=shop`; most series first. A store may leave out the smallest.
    std::vector<value_count> metrics{};
    std::vector<value_count> pairs{};
    std::map<std::string, std::uint64_t, std::less<>> value_counts{};  ///< of labels with many values
};

/// The request's path and query. Both kinds of store ignore the other's argument, and Prometheus before 2.45 both.
/// @param day `2026-01-31`, for VictoriaMetrics; empty: today
std::string status_target(std::string_view day);

/// @return the store's cardinality, or why the answer is not one, as a sentence.
result<store_cardinality, std::string> read_status(std::string_view json);

/// The values of a label, most series first. `__name__` is the metric's name.
std::vector<value_count> groups_of(const store_cardinality& store, std::string_view label);

/// The first of namespace and job that divides at least half of the series; else `__name__`.
std::string best_label(const store_cardinality& store);

/// A whole file: it forwards to the store, observes, and limits all series and those of each value of the label. Room
/// is that of suggested_maximum(). A few outliers have overrides. Comments say which counts the numbers are made of.
/// @param from the store; its files have absolute paths. @param label that the store has.
std::string first_config(const store_cardinality& store, std::string_view label, const top::client_options& from);

}  // namespace seriesgate::from_store
