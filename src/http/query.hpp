/// What of a sender's query string the store hears.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate {

/// Names of query arguments, decoded.
using argument_names = std::set<std::string, std::less<>>;

/// The part of a sender's query that goes on.
struct forwarded_query {
    std::string text;                     ///< arguments with `&` between them, their bytes as they came
    std::size_t left_out = 0;             ///< arguments
    std::string_view left_out_example{};  ///< the name of the first, as it came
};

/// Picks the arguments with one of these names, however their letters are written (`%5F`, `+`), as often as they come.
/// An argument that servers read in different ways goes nowhere: one with a `;`, which some take for `&`, with a `#`,
/// or with a `%` that two hexadecimal digits do not follow. Linear in the bytes.
/// @param query without '?'; what is returned points at it.
forwarded_query pick_arguments(std::string_view query, const argument_names& names);

/// The values of all arguments with this name, decoded. Linear in the bytes.
std::vector<std::string> argument_values(std::string_view query, std::string_view name);

/// Whether the query has this argument with this value. Linear in the bytes.
bool has_argument(std::string_view query, std::string_view name, std::string_view value);

}  // namespace seriesgate
