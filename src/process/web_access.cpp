#include "process/web_access.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace seriesgate {
namespace {

/// Whether this user may still exist and write. Names of certificates are not listed anywhere.
bool may_write(const web_config& of, const std::string& user) {
    if (of.ingestion_users && !of.ingestion_users->contains(user)) return false;
    return !of.has_users() || of.basic_auth_users.contains(user) ||
           std::ranges::count(of.bearer_tokens, user, &bearer_token::name) != 0;
}

/// Whether any rule exists that a path can be excluded from, except TLS.
bool asks_anyone(const web_config& of) {
    return of.has_users() || of.ingestion_users || of.admin_users;
}

std::vector<std::string> lines_of(const std::vector<config_error>& errors) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < std::min(errors.size(), logged_mistakes_max); ++i) lines.push_back(errors[i].text());
    return lines;
}

std::vector<std::string> files_of(const std::string& file, const web_config& from) {
    std::vector<std::string> paths{file};
    for (const bearer_token& each : from.bearer_tokens)
        if (!each.token_file.empty()) paths.push_back(each.token_file);
    return paths;
}

}  // namespace

bool debounced_files::watch(const std::vector<std::string>& paths) {
    bool is_new = false;
    for (const std::string& each : paths) is_new = files_.try_emplace(each, each).second || is_new;
    std::erase_if(files_, [&](const auto& known) { return std::ranges::find(paths, known.first) == paths.end(); });
    if (!is_new) return false;
    is_unread_ = true;
    changed_.reset();
    return true;
}

bool debounced_files::look(clock::time_point now) {
    bool changed = !changed_;
    for (auto& [path, file] : files_) changed = file.refresh() || changed;
    if (changed) {
        is_unread_ = true;
        changed_ = now;
    }
    return is_unread_ && now - *changed_ >= settling;
}

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
             .key = std::string{web_tls_key},
             .message = "is not the one that is running: a restart is needed first, nothing of the file is taken"}};
}

std::vector<config_error> less_protected(const web_config& before, const web_config& after, const std::string& file) {
    std::vector<config_error> found;
    const auto add_if = [&](bool is_less, const std::string& key, std::string_view what) {
        constexpr std::string_view how = ": that takes SIGHUP or POST /-/reload";
        if (is_less) found.push_back({.where = file, .key = key, .message = std::string{what}.append(how)});
    };
    add_if(before.has_users() && !after.has_users(), "basic_auth_users", "and bearer_tokens would leave no user");
    add_if(before.ingestion_users && !after.ingestion_users, "ingestion_users", "would be gone");
    add_if(before.admin_users && !after.admin_users, "admin_users", "would be gone");
    for (const auto& [user, tenant] : before.tenants)
        add_if(!after.tenants.contains(user) && may_write(after, user), "tenants." + user, "would be gone");
    for (const std::string& path : after.auth_excluded_paths)
        add_if(asks_anyone(before) && asks_anyone(after) && !before.auth_excluded_paths.contains(path),
               "auth_excluded_paths." + path, "would ask nothing of anyone");
    return found;
}

web_access::web_access(std::string file, const web_config& running, access_control& control, gauge& successful)
    : file_(std::move(file)), control_(control), successful_(successful), in_force_(running) {
    files_.watch(files_of(file_, in_force_));
    successful_.set(1);
}

std::vector<config_error> web_access::mistakes_in(const web_config& next) {
    const std::scoped_lock lock{guard_};
    return mistakes_until_restart(in_force_, next, file_);
}

std::vector<std::string> web_access::differences_to(const web_config& next) {
    const std::scoped_lock lock{guard_};
    auto found = differences(in_force_, next);
    if (in_force_.tls != next.tls) found.emplace_back(web_tls_key);
    return found;
}

void web_access::take_over(const web_config& next, const std::function<void()>& with) {
    const std::scoped_lock lock{guard_};
    replace(next, with);
    files_.note_unread();  // refresh() may have looked between the reading and this call
    if (in_force_.tls != next.tls) return;
    mistakes_.clear();
    refused_.clear();
    show();
}

void web_access::note_tls_files(bool are_taken) {
    const std::scoped_lock lock{guard_};
    are_tls_files_taken_ = are_taken;
    show();
}

void web_access::show() {
    successful_.set(mistakes_.empty() && refused_.empty() && are_tls_files_taken_ ? 1 : 0);
}

void web_access::refresh(clock::time_point now) {
    const std::scoped_lock lock{guard_};
    if (!files_.look(now)) return log_mistakes(now);
    const web_outcome read = load_web_config(file_, bad_tokens::are_refused);
    // New token files must settle too, and so must files that changed during the read.
    if (files_.watch(files_of(file_, read.value)) || !files_.look(now)) return;
    judge(read, now);
    files_.note_read();
}

void web_access::judge(const web_outcome& read, clock::time_point now) {
    auto mistakes = lines_of(read.ok() ? hindrances(read.value) : read.errors);
    if (!mistakes.empty()) return note(std::move(mistakes), {}, now);
    const bool was_well = mistakes_.empty() && refused_.empty();
    const auto changed = replace(read.value);
    note({}, read.refused, now);
    if (changed.empty() && (was_well || !read.refused.empty())) return;
    const std::string changes = changed.empty() ? "none" : fmt::format("{}", fmt::join(changed, ", "));
    log::info("web configuration reread", {{"changes", changes}});
}

std::vector<config_error> web_access::hindrances(const web_config& next) const {
    auto found = mistakes_until_restart(in_force_, next, file_);
    if (found.empty() && in_force_.tls != next.tls)
        found.push_back({.where = file_,
                         .key = std::string{web_tls_key},
                         .message = "is not the one that is running: a restart is needed"});
    if (found.empty()) found = less_protected(in_force_, next, file_);
    return found;
}

void web_access::note(std::vector<std::string> mistakes, std::vector<std::string> refused, clock::time_point now) {
    if (mistakes != mistakes_ || refused != refused_) logged_at_ = {};
    mistakes_ = std::move(mistakes);
    refused_ = std::move(refused);
    show();
    log_mistakes(now);
}

/// Logs the mistakes at once, then every ten minutes.
void web_access::log_mistakes(clock::time_point now) {
    if (logged_at_ != clock::time_point{} && now - logged_at_ < logs_again_after) return;
    for (const std::string& each : mistakes_) log::error("web configuration not reread", {{"err", each}});
    const std::size_t shown = std::min(refused_.size(), logged_mistakes_max);
    for (std::size_t i = 0; i < shown; ++i) log::error("token refused", {{"err", refused_[i]}});
    logged_at_ = now;
}

std::vector<std::string> web_access::replace(const web_config& next, const std::function<void()>& with) {
    auto changed = differences(in_force_, next);
    if (changed.empty()) {
        with();
        return changed;
    }
    web_config kept = next;
    kept.tls = in_force_.tls;
    control_.take_over(kept, with);
    in_force_ = std::move(kept);
    return changed;
}

}  // namespace seriesgate
