/// Lists and the order of names in header fields. Whether two names are one: core/ascii.hpp.
#pragma once

#include <algorithm>
#include <string_view>

#include "core/text.hpp"

namespace seriesgate {

/// An order in which names that mean the same are equal.
constexpr bool name_before(std::string_view one, std::string_view other) noexcept {
    return std::ranges::lexicographical_compare(one, other, {}, lower, lower);
}

/// Without the white space of RFC 9110, section 5.6.3, at both ends.
constexpr std::string_view trimmed(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Hands every item between commas that is not empty to `visit`, in one pass. Source: RFC 9110, section 5.6.1.
/// @param visit returns whether to go on.
template <class Visit>
void for_each_item(std::string_view list, Visit visit) {
    for (;;) {
        const auto comma = list.find(',');
        const std::string_view item = trimmed(list.substr(0, comma));
        if (!item.empty() && !visit(item)) return;
        if (comma == std::string_view::npos) return;
        list.remove_prefix(comma + 1);
    }
}

}  // namespace seriesgate
