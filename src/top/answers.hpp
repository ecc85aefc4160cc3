/// What a gate's answers say. Formats: docs/stats.md, docs/api.md.
#pragma once

#include <string>
#include <string_view>

#include "top/figures.hpp"

namespace seriesgate::top {

/// Each takes the JSON of one answer into the figures, of texts longer than 8 KiB their two ends. What it does not know
/// it passes over; a later version may have more.
/// @return why not, then the figures are as they were or in part as answered; nothing if all was understood.
std::string take_stats(figures& into, std::string_view json);
std::string take_findings(figures& into, std::string_view json);
/// @param by of the question
std::string take_talkers(figures& into, std::string_view json, std::string_view by);
std::string take_refused(figures& into, std::string_view json);

/// What an error in the API's envelope says; nothing if it is none.
std::string error_in(std::string_view json);

}  // namespace seriesgate::top
