/// Reads the arguments of a query string as servers read them, or not at all.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate {

using argument_names = std::set<std::string, std::less<>>;

/// The part of a sender's query that the gate forwards.
struct forwarded_query {
    std::string text;                     ///< undecoded arguments, joined by `&`
    std::size_t left_out = 0;             ///< number of arguments
    std::string_view left_out_example{};  ///< the first one's undecoded name; empty if it has no '='
};

/// Selects all arguments with one of these names, also in encoded form (`%5F`, `+`). Drops arguments that servers read
/// differently: with `;` (some servers split there), with `#`, or with an invalid `%` sequence. Linear in the bytes.
/// @param query without '?'; the result points into it.
forwarded_query pick_arguments(std::string_view query, const argument_names& names);

/// Longest argument name shown in an answer, whose first line is logged.
inline constexpr std::size_t argument_name_shown_bytes_max = 64;

struct query_argument {
    std::string name;
    std::string value;  ///< empty also without '='
};

/// Decodes all arguments in order. @return nothing if one is ambiguous, see pick_arguments(). Linear in the bytes.
std::optional<std::vector<query_argument>> read_arguments(std::string_view query);

/// Whether the query contains this argument with this value. Linear in the bytes.
bool has_argument(std::string_view query, std::string_view name, std::string_view value);

}  // namespace seriesgate
