/// A series as people ask for it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "series/label.hpp"

namespace seriesgate {

/// Names and values, sorted by name.
using series_labels = std::vector<std::pair<std::string, std::string>>;

/// Reads `up{job="a"}`: a selector of which every matcher is an `=`, up to selector_bytes_max bytes and
/// matchers_per_selector_max labels. @return or what is wrong: one line.
result<series_labels, std::string> read_series(std::string_view text);

/// Valid as long as these labels stay.
std::vector<label_view> views_of(const series_labels& labels);

}  // namespace seriesgate
