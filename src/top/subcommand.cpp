#include "top/subcommand.hpp"

#include <CLI/CLI.hpp>
#include <exception>
#include <utility>

#include "config/config_error.hpp"
#include "config/endpoint.hpp"

namespace seriesgate::top {
namespace {

constexpr std::string_view url_form = "a URL such as http://127.0.0.1:9201 or unix:/run/seriesgate/gate.sock";

const std::vector<subcommand_flag>& access_flags() {
    static const std::vector<subcommand_flag> flags{
        {"--username", "NAME", "who asks, with --password-file"},
        {"--password-file", "FILE", "holds the password"},
        {"--bearer-token-file", "FILE", "holds a token in place of user and password"},
        {"--ca-file", "FILE", "whose certificates are believed, PEM (default: the system's)"},
        {"--insecure-skip-verify", "", "do not ask who the server is: anybody on the way may be it"}};
    return flags;
}

/// A flag while CLI11 parses, which keeps pointers to it.
struct parsed_flag {
    const subcommand_flag* about;
    std::string value{};
    CLI::Option* option = nullptr;
};

/// Accepts a missing value as an empty one: see take_values().
void add_to(CLI::App& app, parsed_flag& flag) {
    const auto& [name, value_name, help] = *flag.about;
    if (value_name.empty()) {
        flag.option = app.add_flag(name, help);
    } else {
        flag.option = app.add_option(name, flag.value, help);
        flag.option->type_name(value_name)->expected(0, 1);
    }
}

std::string unknown_argument(const CLI::App& app, const std::string& subcommand_name, const std::string& argument) {
    const std::string see = ", see " + subcommand_name + " --help";
    if (!argument.starts_with("-")) return in_quotes(argument) + ": unexpected argument" + see;
    const std::string flag = argument.substr(0, argument.find('='));
    std::vector<std::string> names;
    for (const CLI::Option* each : app.get_options()) names.push_back(each->get_name());
    const std::vector<std::string_view> candidates{names.begin(), names.end()};
    const auto meant = closest(flag, candidates);
    return printable(flag, 80) + ": unknown flag" +
           (meant.empty() ? see : ", did you mean " + std::string{meant} + "?");
}

/// @return the flag without its value; empty if there is none.
std::string take_values(const std::vector<parsed_flag>& flags, subcommand_line& into) {
    for (const parsed_flag& each : flags) {
        if (!*each.option) continue;
        if (!each.about->value_name.empty() && each.value.empty()) return each.about->name + ": has no value";
        into.values[each.about->name] = each.value;
    }
    return "";
}

std::string wrong_credentials(const client_options& asked) {
    const bool has_user = !asked.username.empty();
    if (has_user && asked.password_file.empty()) return "--username: needs --password-file";
    if (!has_user && !asked.password_file.empty()) return "--password-file: needs --username";
    if (has_user && asked.username.find(':') != std::string::npos) return "--username: must not hold a colon";
    if (has_user && !asked.bearer_token_file.empty()) return "--bearer-token-file: not with --username";
    return "";
}

void take_access(subcommand_line& line) {
    client_options& into = line.access;
    for (const auto& [name, target] : {std::pair{"--username", &into.username},
                                       {"--password-file", &into.password_file},
                                       {"--bearer-token-file", &into.bearer_token_file},
                                       {"--ca-file", &into.ca_file}})
        if (const auto given = line.values.find(name); given != line.values.end()) *target = given->second;
    into.any_server = line.values.contains("--insecure-skip-verify");
}

void parse(CLI::App& app, const subcommand& of, int argc, const char* const* argv, subcommand_line& into) {
    std::vector<parsed_flag> flags;
    for (const auto* list : {&of.flags, &access_flags()})
        for (const subcommand_flag& each : *list) flags.push_back({.about = &each});
    for (parsed_flag& each : flags) add_to(app, each);
    app.set_help_flag("--help,-h", "print this and exit");
    app.parse(argc, argv);
    const auto rest = app.remaining();
    if (!rest.empty()) into.error = unknown_argument(app, of.name, rest.front());
    if (into.error.empty()) into.error = take_values(flags, into);
    take_access(into);
}

}  // namespace

subcommand_line parse_subcommand(const subcommand& of, int argc, const char* const* argv) {
    CLI::App app{of.purpose, "seriesgate " + of.name};
    app.allow_extras();
    app.footer(of.footer);
    subcommand_line result{.error = {}, .print = {}, .values = {}, .access = of.access};
    try {
        parse(app, of, argc - 1, argv + 1, result);
        if (result.error.empty()) result.error = wrong_credentials(result.access);
    } catch (const CLI::CallForHelp&) {
        result.print = app.help();
    } catch (const CLI::ArgumentMismatch& error) {  // "--url: At Most 1 required but received 2"
        const std::string_view text = error.what();
        result.error = printable(text.substr(0, text.find(':')), 80) + ": is given twice";
    } catch (const std::exception& error) {
        result.error = printable(error.what(), 200);
    }
    return result;
}

bool is_subcommand(std::string_view name, int argc, const char* const* argv) {
    return argc > 1 && std::string_view{argv[1]} == name;
}

std::string parse_gate_url(const std::string& url, server_address& to) {
    if (url.starts_with("unix:")) {
        listen_address path;
        if (auto wrong = parse_listen(url, path); !wrong.empty()) return wrong;
        to = {.unix_path = path.unix_path, .authority = "localhost"};
        return "";
    }
    const auto wrong = [&] { return "is not " + std::string{url_form}; };
    if (url.find('@') != std::string::npos) return "must not hold credentials; --username and --password-file say them";
    if (!url.starts_with("http://") && !url.starts_with("https://")) return wrong();
    if (url.find_first_of("?#") != std::string::npos) return wrong();
    store_backend backend;
    if (!parse_store_url(url.ends_with('/') ? url : url + "/", backend).empty()) return wrong();
    std::string prefix = backend.target.reveal();
    prefix.erase(prefix.find_last_not_of('/') + 1);
    to = {.tls = backend.tls,
          .host = backend.host,
          .port = backend.port,
          .unix_path = {},
          .authority = backend.authority,
          .prefix = std::move(prefix)};
    return "";
}

}  // namespace seriesgate::top
