#include "core/path_tenant.hpp"

#include <cstdint>

#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:";

std::optional<std::string> account_in(std::string_view name) {
    const auto colon = name.find(':');
    const auto account = whole_number<std::uint32_t>(name.substr(0, colon));
    const auto project = colon == std::string_view::npos ? 0 : whole_number<std::uint32_t>(name.substr(colon + 1));
    if (!account || !project) return std::nullopt;
    std::string made = std::to_string(*account);
    if (*project != 0) made.append(":").append(std::to_string(*project));
    return made;
}

}  // namespace

std::optional<tenant_pattern> find_tenant_mark(std::string_view path) {
    std::optional<tenant_pattern> found;
    for (const std::string_view mark : {tenant_mark, account_mark}) {
        const auto at = path.find(mark);
        if (at == std::string_view::npos) continue;
        const std::string_view before = path.substr(0, at), behind = path.substr(at + mark.size());
        const bool is_whole = before.ends_with('/') && (behind.empty() || behind.starts_with('/'));
        if (found || !is_whole || behind.find(mark) != std::string_view::npos) return std::nullopt;
        found = tenant_pattern{.before = before, .behind = behind, .is_account = mark == account_mark};
    }
    return found;
}

std::optional<std::string> tenant_in_segment(std::string_view segment, bool is_account) {
    std::string name{segment};
    // "%3A" is a colon, as servers decode it.
    for (std::size_t at = 0; (at = name.find("%3", at)) != std::string::npos; ++at)
        if (at + 2 < name.size() && lower(name[at + 2]) == 'a') name.replace(at, 3, ":");
    if (name.find_first_not_of(name_characters) != std::string::npos) return std::nullopt;
    if (name.find_first_not_of('.') == std::string::npos) return std::nullopt;
    return is_account ? account_in(name) : std::optional{std::move(name)};
}

std::optional<std::string> tenant_in_path(std::string_view path, const tenant_pattern& pattern) {
    if (path.size() < pattern.before.size() + pattern.behind.size()) return std::nullopt;
    if (!path.starts_with(pattern.before) || !path.ends_with(pattern.behind)) return std::nullopt;
    path.remove_prefix(pattern.before.size());
    path.remove_suffix(pattern.behind.size());
    return tenant_in_segment(path, pattern.is_account);
}

bool fits_path(std::string_view tenant, bool is_account) {
    return tenant_in_segment(tenant, is_account) == tenant;
}

}  // namespace seriesgate
