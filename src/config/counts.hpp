#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Whole numbers as people write them.
namespace seriesgate {

/// What can be read in one way only: `1000000`, `1_000_000` (groups of three), `1M`, `500k`, `2.5M` (k or K, M, G:
/// powers of ten) and `1e6`. No sign, and no zero in front: some YAML readers take 010 for 8.
/// @return nothing if the text is anything else or no whole number; 2^64 - 1 for all that is more.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// For a text that is no count: the one that was probably meant, such as `1000000`; empty if that is not known.
std::string count_meant(std::string_view text);

}  // namespace seriesgate
