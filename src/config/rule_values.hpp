#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/placed_value.hpp"
#include "limit/rules.hpp"

/// What several rules are made of. All tell what is wrong and return whether nothing was.
namespace seriesgate {

/// Bounds on what has to be looked at for a new series.
inline constexpr std::size_t limits_max = 64;
inline constexpr std::size_t exempt_max = 64;
inline constexpr std::size_t each_max = 16;
inline constexpr std::size_t ignore_labels_max = 64;
inline constexpr std::size_t top_labels_max = 8;
inline constexpr std::size_t forward_query_max = 64;

/// A list of label names, each once.
bool read_label_names(const placed_value& at, std::size_t count_max, std::vector<std::string>& target);

/// A selector in quotes.
/// @param ignored labels that it must not ask for.
bool read_selector(const placed_value& at, std::span<const std::string> ignored, selector& target);

bool read_flag(const placed_value& at, bool& target);

bool read_mode(const placed_value& at, limit_mode& target);

bool read_answer(const placed_value& at, std::optional<limit_answer>& target);

/// How many series, 0 for any number.
bool read_series_count(const placed_value& at, std::uint64_t& target);

/// The items of a list that may not be longer than `count_max`. Told if it is, and the rest left out.
std::vector<placed_value> read_items(const placed_value& at, std::size_t count_max);

}  // namespace seriesgate
