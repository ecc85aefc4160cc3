/// Letters of protocols, whatever the locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace seriesgate {

constexpr char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Beast's iequals of Boost 1.81 reads one byte behind both texts when they differ in case (fixed in 1.82).
constexpr bool equal_ignoring_case(std::string_view one, std::string_view other) noexcept {
    return std::ranges::equal(one, other, {}, lower, lower);
}

}  // namespace seriesgate
