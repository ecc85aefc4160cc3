/// A gate's first configuration, with limits from what a store has.
#pragma once

#include <string>
#include <string_view>

#include "suggest/store_cardinality.hpp"
#include "top/subcommand.hpp"

namespace seriesgate::from_store {

/// The first of namespace and job that divides at least half of the series; else `__name__`.
std::string best_label(const store_cardinality& store);

/// A whole file: it forwards to the store, observes, and limits all series and those of each value of the label. Room
/// is that of suggested_maximum(). A few outliers have overrides. Comments say which counts the numbers are made of.
/// @param from the store; its files have absolute paths. @param label that the store has.
std::string first_config(const store_cardinality& store, std::string_view label, const top::client_options& from);

}  // namespace seriesgate::from_store
