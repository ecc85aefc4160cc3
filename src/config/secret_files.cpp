#include "config/checks.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "config/wording.hpp"

namespace seriesgate {
namespace {

struct secret_place {
    std::string key;
    std::string path;
};

bool is_of_another_user(const struct stat& found) {
    return found.st_uid != 0 && found.st_uid != ::geteuid();
}

/// Empty if nobody else can put another file in a file's place.
std::string doubt_of_directory(const std::filesystem::path& directory) {
    struct stat found {};
    if (::stat(directory.c_str(), &found) != 0) return "";
    const std::string start = "stands in the directory '" + printable(directory.string(), std::string_view::npos) + "'";
    if (is_of_another_user(found)) return start + ", which belongs to the user " + std::to_string(found.st_uid);
    const bool keeps_to_owners = (found.st_mode & S_ISVTX) != 0;
    return (found.st_mode & S_IWOTH) != 0 && !keeps_to_owners ? start + ", where every user can replace it" : "";
}

void add_store(const std::string& key, const store_config& store, std::vector<secret_place>& to) {
    to.push_back({key + ".basicAuth.passwordFile", store.basic_auth.password_file});
    to.push_back({key + ".bearerTokenFile", store.bearer_token_file});
    to.push_back({key + ".tls.keyFile", store.tls.key_file});
}

/// Whether the configuration itself says what it shows nobody.
bool holds_secrets(const store_config& store) {
    const auto has_query = [](const store_backend& each) {
        return each.target.reveal().find('?') != std::string::npos;
    };
    return !store.headers.empty() || std::ranges::any_of(store.backends, has_query);
}

std::vector<secret_place> places_of_secrets(const config& read) {
    std::vector<secret_place> all{{"fingerprint.secretFile", read.secret_file}};
    if (read.secret_file.empty() && !read.state.dir.empty())
        all.push_back({"state.dir", (std::filesystem::path{read.state.dir} / "secret").string()});
    add_store("upstream", read.upstream.store, all);
    for (std::size_t i = 0; i < read.upstream.replicas.size(); ++i)
        add_store(key_of_item("upstream.replicateTo", i), read.upstream.replicas[i].store, all);
    all.push_back({"shared.passwordFile", read.shared.store.password_file});
    all.push_back({"shared.tls.keyFile", read.shared.store.tls_files.key_file});
    if (!read.web.basic_auth_users.empty()) all.push_back({"web.config.file", read.web_config_file});
    if (read.web.tls) all.push_back({"web.config.file", read.web.tls->key_file});
    for (const bearer_token& each : read.web.bearer_tokens) all.push_back({"web.config.file", each.token_file});
    return all;
}

}  // namespace

std::string doubt_of_secret_file(const std::string& path) {
    struct stat found {};
    if (path.empty() || ::stat(path.c_str(), &found) != 0) return "";
    const std::string start = "has a secret in '" + printable(path, std::string_view::npos) + "', which ";
    if (is_of_another_user(found)) return start + "belongs to the user " + std::to_string(found.st_uid);
    if ((found.st_mode & S_IWOTH) != 0) return start + "every user can change";
    if ((found.st_mode & S_IROTH) != 0) return start + "every user can read: chmod o= keeps it to its owner and group";
    const std::filesystem::path directory = std::filesystem::path{path}.parent_path();
    const std::string doubt = doubt_of_directory(directory.empty() ? "." : directory);
    return doubt.empty() ? "" : start + doubt;
}

std::vector<config_error> lint_secret_files(const config& read, const std::string& file) {
    std::vector<secret_place> all = places_of_secrets(read);
    const auto& replicas = read.upstream.replicas;
    if (holds_secrets(read.upstream.store) || std::ranges::any_of(replicas, holds_secrets, &replica_config::store))
        all.push_back({"", file});
    const std::string shown_file = printable(file, std::string_view::npos);
    std::vector<config_error> doubts;
    for (const auto& [key, path] : all)
        if (std::string doubt = doubt_of_secret_file(path); !doubt.empty())
            doubts.push_back({shown_file, key, std::move(doubt), severity::warning});
    return doubts;
}

}  // namespace seriesgate
