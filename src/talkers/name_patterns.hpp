/// Names of metrics that have something in them that belongs into a label.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace seriesgate {

/// Digits, and what looks like a hash or a UUID, become `#`: `user_17_requests` and `user_4_requests` are the same.
std::string name_pattern(std::string_view metric);

/// Whether the name has the pattern, one of patterns_of().
bool matches_pattern(std::string_view metric, std::string_view pattern);

/// The patterns that many names have: those of name_pattern(), and of names with a word in them that no other name has
/// (`shop_*_total` of `shop_qkxzv_total`, and so on).
std::vector<std::string> patterns_of(const std::vector<std::string_view>& names);

/// @return of `patterns` the first that the name has; null if it has none.
const std::string* pattern_of(std::string_view metric, const std::vector<std::string>& patterns);

}  // namespace seriesgate
