#include "top/options.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <exception>
#include <string_view>
#include <vector>

#include "config/config_error.hpp"
#include "config/endpoint.hpp"
#include "config/units.hpp"

namespace seriesgate::top {
namespace {

constexpr std::string_view purpose =
    "What a running gate says, live in a terminal: windows, findings, who has the most series, budgets, refused series "
    "and the upstream.";
constexpr std::string_view footer =
    "Without a terminal, or with --once, it prints all of it once. The keys: press ? while it runs.\n"
    "Exit status 1: the gate could not be asked.";
constexpr std::string_view url_form = "a URL such as http://127.0.0.1:9201 or unix:/run/seriesgate/gate.sock";
constexpr std::chrono::milliseconds interval_min{100};
constexpr std::chrono::milliseconds interval_max = std::chrono::hours{1};

struct valued_option {
    const char* name;
    const char* value_name;
    const char* help;
    std::string value{};
    CLI::Option* option = nullptr;
};

struct valued_options {
    valued_option url{"--url", "URL", "of the gate, where it answers people (default http://127.0.0.1:9201)"};
    valued_option interval{"--interval", "TIME", "between two questions (default 2s)"};
    valued_option username{"--username", "NAME", "who asks, with --password-file"};
    valued_option password_file{"--password-file", "FILE", "holds the password"};
    valued_option bearer_token_file{"--bearer-token-file", "FILE", "holds a token in place of user and password"};
    valued_option ca_file{"--ca-file", "FILE", "whose certificates are believed, PEM (default: the system's)"};

    std::array<valued_option*, 6> all() {
        return {&url, &interval, &username, &password_file, &bearer_token_file, &ca_file};
    }
};

/// Accepts a missing value as an empty one: see missing_value().
void add_options(CLI::App& app, options& asked, valued_options& valued) {
    for (valued_option* each : valued.all()) {
        each->option = app.add_option(each->name, each->value, each->help);
        each->option->type_name(each->value_name)->expected(0, 1);
    }
    app.add_flag("--once", asked.once, "print the figures once, as plain text, and exit");
    app.add_flag("--insecure-skip-verify", asked.any_server,
                 "do not ask who the server is: anybody on the way may be it");
    app.set_help_flag("--help,-h", "print this and exit");
}

std::string missing_value(valued_options& valued) {
    for (const valued_option* each : valued.all())
        if (*each->option && each->value.empty()) return std::string{each->name} + ": has no value";
    return "";
}

std::string unknown_argument(const CLI::App& app, const std::string& argument) {
    if (!argument.starts_with("-")) return in_quotes(argument) + ": unexpected argument, see top --help";
    const std::string flag = argument.substr(0, argument.find('='));
    std::vector<std::string> names;
    for (const CLI::Option* each : app.get_options()) names.push_back(each->get_name());
    const std::vector<std::string_view> candidates{names.begin(), names.end()};
    const auto meant = closest(flag, candidates);
    return printable(flag, 80) + ": unknown flag" +
           (meant.empty() ? ", see top --help" : ", did you mean " + std::string{meant} + "?");
}

std::string read_interval(const std::string& text, options& into) {
    if (text.empty()) return "";
    const auto read = parse_duration(text);
    if (!read || *read < interval_min || *read > interval_max)
        return "--interval: " + in_quotes(text) + " is not a time from 100ms to 1h, such as 2s";
    into.interval = *read;
    return "";
}

std::string wrong_credentials(const options& asked) {
    const bool has_user = !asked.username.empty();
    if (has_user && asked.password_file.empty()) return "--username: needs --password-file";
    if (!has_user && !asked.password_file.empty()) return "--password-file: needs --username";
    if (has_user && asked.username.find(':') != std::string::npos) return "--username: must not hold a colon";
    if (has_user && !asked.bearer_token_file.empty()) return "--bearer-token-file: not with --username";
    return "";
}

std::string take_values(options& asked, const valued_options& valued) {
    if (!valued.url.value.empty()) asked.url = valued.url.value;
    asked.username = valued.username.value;
    asked.password_file = valued.password_file.value;
    asked.bearer_token_file = valued.bearer_token_file.value;
    asked.ca_file = valued.ca_file.value;
    if (auto wrong = parse_gate_url(asked.url, asked.at); !wrong.empty()) return "--url: " + wrong;
    if (auto wrong = read_interval(valued.interval.value, asked); !wrong.empty()) return wrong;
    return wrong_credentials(asked);
}

command_line parse(CLI::App& app, int argc, const char* const* argv) {
    command_line result;
    valued_options valued;
    add_options(app, result.asked, valued);
    app.parse(argc, argv);
    const auto rest = app.remaining();
    if (!rest.empty()) result.error = unknown_argument(app, rest.front());
    if (result.error.empty()) result.error = missing_value(valued);
    if (result.error.empty()) result.error = take_values(result.asked, valued);
    return result;
}

}  // namespace

std::string parse_gate_url(const std::string& url, gate_address& to) {
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

bool is_asked_for(int argc, const char* const* argv) {
    return argc > 1 && std::string_view{argv[1]} == "top";
}

command_line parse_command_line(int argc, const char* const* argv) {
    CLI::App app{std::string{purpose}, "seriesgate top"};
    app.allow_extras();
    app.footer(std::string{footer});
    command_line result;
    try {
        return parse(app, argc - 1, argv + 1);
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

}  // namespace seriesgate::top
