#include "app/web_protection.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace seriesgate {
namespace {

/// Whether there may still be such a user. Certificates' names stand nowhere.
bool may_write(const web_config& of, const std::string& user) {
    if (of.ingestion_users && !of.ingestion_users->contains(user)) return false;
    return !of.has_users() || of.basic_auth_users.contains(user) ||
           std::ranges::count(of.bearer_tokens, user, &bearer_token::name) != 0;
}

/// Whether there is something to be excluded from, besides TLS.
bool asks_anyone(const web_config& of) {
    return of.has_users() || of.ingestion_users || of.admin_users;
}

}  // namespace

std::vector<std::string> differences(const web_config& before, const web_config& after) {
    std::vector<std::string> found;
    const auto note = [&](bool same, std::string_view key) {
        if (!same) found.emplace_back(key);
    };
    note(before.answer_headers == after.answer_headers, "http_server_config");
    note(before.basic_auth_users == after.basic_auth_users, "basic_auth_users");
    note(before.bearer_tokens == after.bearer_tokens, "bearer_tokens");
    note(before.ingestion_users == after.ingestion_users, "ingestion_users");
    note(before.admin_users == after.admin_users, "admin_users");
    note(before.tenants == after.tenants, "tenants");
    note(before.auth_excluded_paths == after.auth_excluded_paths, "auth_excluded_paths");
    return found;
}

std::vector<config_error> mistakes_until_restart(const web_config& before, const web_config& after,
                                                 const std::string& file) {
    if (after == web_config{} && before != after)
        return {{.where = file,
                 .key = {},
                 .message = "says nothing, and the one in force does: a restart is needed to ask nothing of anyone"}};
    if (before.tls == after.tls || differences(before, after).empty()) return {};
    return {{.where = file,
             .key = "tls_server_config",
             .message = "is not the one that is running: a restart is needed first, nothing of the file is taken"}};
}

std::vector<config_error> less_protected(const web_config& before, const web_config& after, const std::string& file) {
    std::vector<config_error> found;
    const auto tell = [&](bool is_less, const std::string& key, std::string_view what) {
        constexpr std::string_view how = ": that takes SIGHUP or POST /-/reload";
        if (is_less) found.push_back({.where = file, .key = key, .message = std::string{what}.append(how)});
    };
    tell(before.has_users() && !after.has_users(), "basic_auth_users", "and bearer_tokens would leave no user");
    tell(before.ingestion_users && !after.ingestion_users, "ingestion_users", "would be gone");
    tell(before.admin_users && !after.admin_users, "admin_users", "would be gone");
    for (const auto& [user, tenant] : before.tenants)
        tell(!after.tenants.contains(user) && may_write(after, user), "tenants." + user, "would be gone");
    for (const std::string& path : after.auth_excluded_paths)
        tell(asks_anyone(before) && asks_anyone(after) && !before.auth_excluded_paths.contains(path),
             "auth_excluded_paths." + path, "would ask nothing of anyone");
    return found;
}

}  // namespace seriesgate
