/// Query strings: what of a sender's the store hears, and what is asked of the gate itself.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
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
    std::string_view left_out_example{};  ///< the name of the first, as it came; empty if it has no value
};

/// Picks the arguments with one of these names, however their letters are written (`%5F`, `+`), as often as they come.
/// An argument that servers read in different ways goes nowhere: one with a `;`, which some take for `&`, with a `#`,
/// or with a `%` that two hexadecimal digits do not follow. Linear in the bytes.
/// @param query without '?'; what is returned points at it.
forwarded_query pick_arguments(std::string_view query, const argument_names& names);

/// Of the name of an argument that nobody knows, in the answer and in the log.
inline constexpr std::size_t argument_name_shown_bytes_max = 64;

/// One argument, decoded.
struct query_argument {
    std::string name;
    std::string value;  ///< empty without '=', too
};

/// All arguments, in their order. @return nothing if servers read one of them in different ways, see above. Linear in
/// the bytes.
std::optional<std::vector<query_argument>> read_arguments(std::string_view query);

/// Whether the query has this argument with this value. Linear in the bytes.
bool has_argument(std::string_view query, std::string_view name, std::string_view value);

}  // namespace seriesgate
