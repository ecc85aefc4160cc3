/// The grammar of selectors. Internal to series: parse_selector is what others call.
#pragma once

#include <vector>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "series/label_matcher.hpp"

namespace seriesgate {

/// The matchers of a selector, as they stand in the text. See parse_selector.
result<std::vector<label_matcher>, selector_error> parse_matchers(bytes_view text);

}  // namespace seriesgate
