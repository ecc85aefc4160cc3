/// Orders a new series' labels so that the distinguishing ones come first.
#pragma once

#include <cstddef>
#include <vector>

#include "series/label.hpp"

namespace seriesgate {

class planner;

/// The labels of a new series. First those with a value that no known series of the metric in the request has; then
/// those that differ from most other series. Common labels come last.
/// Compares up to 32 neighbouring entries and skips giants: it serves one log line or answer, but a sender may cause
/// many.
/// @param decided the request's planner; its labels() is used.
/// @param entry of a series that was refused, or admitted without room by an observing limit.
std::vector<label_view> distinguishing_first(planner& decided, std::size_t entry);

}  // namespace seriesgate
