#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_error.hpp"
#include "limit/rules.hpp"

/// Limits cannot go by a label that does not tell series apart: which of the series that differ in nothing else would
/// say?
namespace seriesgate {

/// What is wrong with a label that a limit goes by; empty if nothing is.
/// @param ignored ignoreLabels.
std::string ignored_label(std::string_view name, std::span<const std::string> ignored);

/// The same of all labels that a selector asks for.
std::string ignored_label(const selector& asked, std::span<const std::string> ignored);

/// What is wrong with rules that were read beside other ignoreLabels. Without places: only the file's reader knows
/// them.
std::vector<config_error> ignored_labels(const limit_rules& rules, std::span<const std::string> ignored);

}  // namespace seriesgate
