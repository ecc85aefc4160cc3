#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// Numbers with a fraction, counted exactly.
namespace seriesgate {

bool is_digits(std::string_view text) noexcept;

/// `text`, digits with or without a fraction, times `factor`, if that is a whole number: "2.5" times 1,000 is 2,500.
/// @return nothing if it is none or if the text is anything else; 2^64 - 1 for all that is more.
std::optional<std::uint64_t> whole_product(std::string_view text, std::uint64_t factor) noexcept;

}  // namespace seriesgate
