#include "top/subcommand.hpp"

#include <utility>

#include "config/endpoint.hpp"

namespace seriesgate::top {
namespace {

constexpr std::string_view url_form = "a URL such as http://127.0.0.1:9201 or unix:/run/seriesgate/gate.sock";

const std::vector<flag_about>& access_flags() {
    static const std::vector<flag_about> flags{
        {"--username", "NAME", "who asks, with --password-file"},
        {"--password-file", "FILE", "holds the password"},
        {"--bearer-token-file", "FILE", "holds a token in place of user and password"},
        {"--ca-file", "FILE", "whose certificates are believed, PEM (default: the system's)"},
        {"--insecure-skip-verify", "", "do not ask who the server is: anybody on the way may be it"}};
    return flags;
}

std::string wrong_credentials(const client_options& asked) {
    const bool has_user = !asked.username.empty();
    if (has_user && asked.password_file.empty()) return "--username: needs --password-file";
    if (!has_user && !asked.password_file.empty()) return "--password-file: needs --username";
    if (has_user && asked.username.find(':') != std::string::npos) return "--username: must not hold a colon";
    if (has_user && !asked.bearer_token_file.empty()) return "--bearer-token-file: not with --username";
    return "";
}

void take_access(const parsed_flags& given, client_options& into) {
    for (const auto& [name, target] : {std::pair{"--username", &into.username},
                                       {"--password-file", &into.password_file},
                                       {"--bearer-token-file", &into.bearer_token_file},
                                       {"--ca-file", &into.ca_file}})
        if (const auto value = given.values.find(name); value != given.values.end()) *target = value->second;
    into.any_server = given.values.contains("--insecure-skip-verify");
}

}  // namespace

parsed_flags parse_subcommand(program_about of, int argc, const char* const* argv, client_options& access) {
    of.flags.insert(of.flags.end(), access_flags().begin(), access_flags().end());
    parsed_flags given = parse_flags(of, argc - 1, argv + 1);
    take_access(given, access);
    if (given.error.empty()) given.error = wrong_credentials(access);
    return given;
}

bool is_subcommand(std::string_view name, int argc, const char* const* argv) {
    return argc > 1 && std::string_view{argv[1]} == name;
}

std::string parse_gate_url(const std::string& url, server_address& to) {
    to = {};
    if (url.starts_with("unix:")) {
        listen_address path;
        if (auto wrong = parse_listen(url, path); !wrong.empty()) return wrong;
        to.unix_path = std::move(path.unix_path);
        to.authority = "localhost";
        return "";
    }
    const auto wrong = [&] { return "is not " + std::string{url_form}; };
    if (url.find('@') != std::string::npos) return "must not hold credentials; --username and --password-file say them";
    if (!url.starts_with("http://") && !url.starts_with("https://")) return wrong();
    if (url.find_first_of("?#") != std::string::npos) return wrong();
    if (!parse_store_url(url.ends_with('/') ? url : url + "/", to).empty()) return wrong();
    std::string prefix = to.target.reveal();
    prefix.erase(prefix.find_last_not_of('/') + 1);
    to.target = std::move(prefix);
    return "";
}

}  // namespace seriesgate::top
