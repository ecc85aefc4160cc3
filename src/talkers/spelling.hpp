/// What texts are written with, as a regular expression: as long as they were, of the characters that they had.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace seriesgate {

/// For RE2, what it means is what it says.
std::string escaped_for_regex(std::string_view text);

/// `[0-9a-f]{4,32}`. Empty if they have other characters than ASCII's letters, digits, `-`, `_`, `.`, `:` and `/`.
/// @param texts at least one.
std::string characters_of(const std::vector<std::string_view>& texts);

/// `user-[0-9]{4,7}`: the same, and what all begin and end with stands as it is. Empty, too, if fewer than four
/// characters vary: those would be others' values, too.
/// @param texts at least two that differ.
std::string spelling_of(const std::vector<std::string_view>& texts);

}  // namespace seriesgate
