/// Tenants that stand in the path of a URL, on the way in (tenants.path) and out (the URLs of stores).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace seriesgate {

/// What stands for a whole segment of a path: any tenant, or one of VictoriaMetrics, `account[:project]`.
inline constexpr std::string_view tenant_mark = "{tenant}";
inline constexpr std::string_view account_mark = "{account}";

/// A path with one of the marks, taken apart. Views into the path.
struct tenant_pattern {
    std::string_view before;  ///< the mark, up to a slash
    std::string_view behind;  ///< from a slash on, or empty
    bool is_account = false;
};

/// @return nothing for a path without a mark, with two, or with one that is part of a segment.
std::optional<tenant_pattern> find_tenant_mark(std::string_view path);

/// The tenant that a segment names. A name has letters, digits, `-`, `.`, `_`, `~` and `:` and is not made of dots
/// alone, so that it cannot change which path it stands in. A store reads `7`, `07` and `7:0` as one account: all of
/// them are `7` here, or one tenant would have several limits.
std::optional<std::string> tenant_in_segment(std::string_view segment, bool is_account);

/// The tenant that a path names, which has to be written as the pattern is.
std::optional<std::string> tenant_in_path(std::string_view path, const tenant_pattern& pattern);

/// Whether a tenant can be written into a path, and is the only one that is written so.
bool fits_path(std::string_view tenant, bool is_account);

}  // namespace seriesgate
