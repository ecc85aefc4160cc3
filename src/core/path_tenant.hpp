/// Tenants in the path of a URL: of requests (tenants.path) and of upstream URLs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace seriesgate {

/// A whole path segment: any tenant, or a VictoriaMetrics tenant `account[:project]`.
inline constexpr std::string_view tenant_mark = "{tenant}";
inline constexpr std::string_view account_mark = "{account}";

/// A path split at the mark. Views into the path.
struct tenant_pattern {
    std::string_view before;  ///< up to the slash before the mark
    std::string_view behind;  ///< from the slash after it, or empty
    bool is_account = false;
};

/// @return nothing if the path has no mark, two marks, or a mark inside a segment.
std::optional<tenant_pattern> find_tenant_mark(std::string_view path);

/// The tenant of a segment. A name has letters, digits, `-`, `.`, `_`, `~` and `:`, and not only dots, so it cannot
/// change the path. Stores read `7`, `07` and `7:0` as one account; all become `7`, so that a tenant has one limit.
std::optional<std::string> tenant_in_segment(std::string_view segment, bool is_account);

/// The tenant of a path, which must match the pattern exactly.
std::optional<std::string> tenant_in_path(std::string_view path, const tenant_pattern& pattern);

/// Whether a tenant can be written into a path and read back unchanged.
bool fits_path(std::string_view tenant, bool is_account);

}  // namespace seriesgate
