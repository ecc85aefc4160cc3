/// What of a new series is worth showing.
#pragma once

#include <cstddef>
#include <vector>

#include "series/label.hpp"

namespace seriesgate {

class planner;

/// Its labels, those first that tell it from others of its metric in the same request: with a value that no known
/// series has, then those that differ from most of the others. What all have in common comes last.
///
/// Compares with up to 32 entries around it, and does not look at giants: it is made for one line or one answer, but a
/// sender may cause many.
/// @param decided the planner of the request; its labels() is used.
/// @param entry of a series that was refused, or let through by a limit that only observes.
std::vector<label_view> distinguishing_first(planner& decided, std::size_t entry);

}  // namespace seriesgate
