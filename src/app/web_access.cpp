#include "app/web_access.hpp"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/load_web.hpp"
#include "log/log.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t logged_mistakes_max = 10;

/// Names of parts, and never what they hold: those are passwords.
std::vector<std::string> differences(const web_config& before, const web_config& after) {
    std::vector<std::string> found;
    const auto note = [&](bool same, std::string_view key) {
        if (!same) found.emplace_back(key);
    };
    note(before.tls == after.tls, "tls_server_config (a restart is needed)");
    note(before.answer_headers == after.answer_headers, "http_server_config");
    note(before.basic_auth_users == after.basic_auth_users, "basic_auth_users");
    note(before.bearer_tokens == after.bearer_tokens, "bearer_tokens");
    note(before.ingestion_users == after.ingestion_users, "ingestion_users");
    note(before.admin_users == after.admin_users, "admin_users");
    note(before.tenants == after.tenants, "tenants");
    note(before.auth_excluded_paths == after.auth_excluded_paths, "auth_excluded_paths");
    return found;
}

std::vector<std::string> lines_of(const std::vector<config_error>& errors) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < std::min(errors.size(), logged_mistakes_max); ++i) lines.push_back(errors[i].text());
    return lines;
}

}  // namespace

web_access::web_access(std::string file, const web_config& running, access_control& control)
    : file_(std::move(file)), control_(control), in_force_(running) {}

web_access::mark web_access::mark_of(const std::string& file) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) return {};
    constexpr long long ns_per_second = 1'000'000'000;
    return {found.st_ino, found.st_size, found.st_mtim.tv_sec * ns_per_second + found.st_mtim.tv_nsec};
}

web_access::marks web_access::marks_now() const {
    marks made{{file_, mark_of(file_)}};
    for (const bearer_token& each : in_force_.bearer_tokens) made.emplace(each.token_file, mark_of(each.token_file));
    return made;
}

std::vector<std::string> web_access::changes(const web_config& next) {
    const std::scoped_lock lock{guard_};
    return differences(in_force_, next);
}

void web_access::take_over(const web_config& next) {
    const std::scoped_lock lock{guard_};
    replace(next);
    mistakes_.clear();
}

void web_access::refresh() {
    const std::scoped_lock lock{guard_};
    marks now = marks_now();
    // A file that is no good may name one that is not looked at yet, and that comes later.
    if (now == seen_ && mistakes_.empty()) return;
    seen_ = std::move(now);  // before it is read: what changes while it is read is read again
    const web_outcome read = load_web_config(file_);
    if (!read.ok()) return note_mistakes(lines_of(read.errors));
    const auto changed = replace(read.value);
    if (changed.empty() && mistakes_.empty()) return;
    mistakes_.clear();
    const std::string changes = changed.empty() ? "none" : fmt::format("{}", fmt::join(changed, ", "));
    log::info("web configuration reread", {{"changes", changes}});
}

void web_access::note_mistakes(std::vector<std::string> found) {
    if (found == mistakes_) return;
    for (const std::string& each : found) log::error("web configuration not reread", {{"err", each}});
    mistakes_ = std::move(found);
}

std::vector<std::string> web_access::replace(const web_config& next) {
    auto changed = differences(in_force_, next);
    if (changed.empty()) return changed;
    web_config kept = next;
    control_.take_over(next);
    in_force_ = std::move(kept);
    return changed;
}

}  // namespace seriesgate
