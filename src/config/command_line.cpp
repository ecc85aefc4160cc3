#include "config/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string_view>
#include <vector>

#include "config/keys.hpp"
#include "config/units.hpp"
#include "config/version.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view purpose =
    "A cardinality gate for Prometheus remote write: known series pass, new series need room in the limits.";

constexpr std::string_view footer =
    "Flags override the file. Without a file the defaults apply and --upstream.url is needed.\n"
    "Every key of the file: docs/configuration.md.\n"
    "seriesgate top shows the figures of a gate that runs, live in a terminal: seriesgate top --help.\n"
    "seriesgate suggest makes a first configuration from the series of a store: seriesgate suggest --help.";

bool is_key(std::string_view name) {
    return std::ranges::any_of(config_keys(), [&](const config_key& key) {
        const std::string& known = key.about.name;
        return known == name || (known.starts_with(name) && known[name.size()] == '.');
    });
}

/// The flag or the key of the file that was probably meant.
std::string hint_for(const CLI::App& app, std::string_view flag) {
    const auto name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty()) names.push_back(option->get_name());
    const std::string with_dashes = "--" + std::string{name};
    if (std::ranges::count(names, with_dashes) == 0 && !name.empty() && is_key(name))
        return ", " + in_quotes(name) + " is a key of the file only";
    for (const std::string& longer : names)
        if (longer.starts_with(with_dashes + ".")) return ", did you mean " + longer + "?";
    const auto meant = closest(with_dashes, std::vector<std::string_view>{names.begin(), names.end()});
    return meant.empty() ? ", see --help" : ", did you mean " + std::string{meant} + "?";
}

std::string unknown_argument(const CLI::App& app, const std::string& argument) {
    if (!argument.starts_with("-")) return in_quotes(argument) + ": unexpected argument, see --help";
    const std::string flag = argument.substr(0, argument.find('='));
    return printable(flag, 80) + ": unknown flag" + hint_for(app, flag);
}

bool is_negative_number(std::string_view argument) noexcept {
    return argument.size() > 1 && argument[0] == '-' && is_digits(argument.substr(1, 1));
}

// `--maxHourlySeries -100` as `--maxHourlySeries=-100`, so that the number is taken for a value and no flag.
std::vector<std::string> with_numbers_joined(int argc, const char* const* argv) {
    std::vector<std::string> arguments;
    for (int i = 0; i < argc; ++i) {
        const std::string argument{argv[i]};
        const bool is_behind_flag = arguments.size() > 1 && arguments.back().starts_with("--") &&
                                    arguments.back().find('=') == std::string::npos;
        if (is_behind_flag && is_negative_number(argument))
            arguments.back() += "=" + argument;
        else
            arguments.push_back(argument);
    }
    return arguments;
}

// Flags of Go programs begin with one dash. Ours with one letter do, too, and `-httpListenAddr` is none of them.
std::string single_dash(const std::vector<std::string>& arguments) {
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument.size() > 2 && argument[0] == '-' && argument[1] != '-') return argument;
    }
    return "";
}

struct valued_option {
    std::string name;
    std::string value = {};
    CLI::Option* option = nullptr;
};

// A missing value is accepted here as an empty one and found by missing_value(): CLI11's own words for it
// ("1 required ADDR missing") change from version to version.
void add_valued(CLI::App& app, valued_option& target, std::string_view value_name, std::string_view help) {
    target.option = app.add_option("--" + target.name, target.value, std::string{help});
    target.option->type_name(std::string{value_name})->expected(0, 1);
}

/// A sentence of the reference as --help has it: in small letters, without marks of code and without the stop.
std::string plain(std::string text) {
    std::erase(text, '`');
    if (text.ends_with('.')) text.pop_back();
    if (text.size() > 1 && text[1] >= 'a' && text[1] <= 'z') text[0] = in_lower_case(text.substr(0, 1))[0];
    return text;
}

constexpr std::string_view warm_flag = "warm-from";

void add_options(CLI::App& app, std::vector<valued_option>& options, valued_option& health, valued_option& reference,
                 command_line& into) {
    options.push_back({.name = "config.file"});
    for (const config_key& key : config_keys()) {
        if (!key.flag.empty()) options.push_back({.name = key.about.name});
    }
    options.push_back({.name = std::string{warm_flag}});
    add_valued(app, options.front(), "FILE", "the configuration, YAML");
    for (valued_option& option : options) {
        const auto key =
            std::ranges::find(config_keys(), option.name, [](const config_key& each) { return each.about.name; });
        if (key != config_keys().end()) add_valued(app, option, key->flag, plain(key->about.help));
    }
    add_valued(app, options.back(), "URL", "admit the series that this store has, in this one start (warmStart.url)");
    app.add_flag("--takeover", into.takes_over,
                 "take the place of the gate that runs: no request is refused, counts go on");
    app.add_flag("--check-config", into.check_config, "check the configuration, print every error, and exit");
    add_valued(app, health, "[URL]", "ask a gate that runs whether it is healthy (default: port 9201 here), and exit");
    add_valued(app, reference, "FORM", "print what is made of the keys: markdown, yaml or json-schema");
    reference.option->group("");  // for those who build the gate: not in --help
    app.set_version_flag("--version", "seriesgate " + std::string{version()}, "print the version and exit");
    app.set_help_flag("--help,-h", "print this and exit");
}

std::string missing_value(const std::vector<valued_option>& options) {
    for (const valued_option& option : options) {
        if (*option.option && option.value.empty()) return "--" + option.name + ": has no value";
    }
    return "";
}

/// The question about health is one of its own: it reads no configuration and starts nothing.
std::string company_of_health(const std::vector<valued_option>& options, const command_line& asked) {
    std::string other = asked.check_config ? "check-config" : asked.takes_over ? "takeover" : "";
    for (const valued_option& option : options) {
        if (*option.option) other = option.name;
    }
    return other.empty() ? "" : "--health-check: not with --" + other;
}

/// @return what is wrong with the flags; their values are another matter.
std::string parse_flags(CLI::App& app, int argc, const char* const* argv) {
    const std::vector<std::string> arguments = with_numbers_joined(argc, argv);
    if (const auto theirs = single_dash(arguments); !theirs.empty()) return unknown_argument(app, theirs);
    std::vector<const char*> texts;
    for (const std::string& argument : arguments) texts.push_back(argument.c_str());
    app.parse(static_cast<int>(texts.size()), texts.data());
    const auto rest = app.remaining();
    return rest.empty() ? "" : unknown_argument(app, rest.front());
}

command_line parse(CLI::App& app, int argc, const char* const* argv) {
    command_line result;
    std::vector<valued_option> options;  // CLI11 keeps pointers into it
    valued_option health{.name = "health-check"};
    valued_option reference{.name = "print-reference"};
    add_options(app, options, health, reference, result);
    result.error = parse_flags(app, argc, argv);
    if (result.error.empty()) result.error = missing_value(options);
    if (*reference.option) {
        result.print = print_reference(reference.value);
        if (result.print.empty() && result.error.empty())
            result.error =
                "--print-reference: " + in_quotes(reference.value) + " is none of markdown, yaml and json-schema";
        return result;
    }
    if (*health.option) {
        if (result.error.empty()) result.error = company_of_health(options, result);
        result.health_check = health.value;
        return result;
    }
    for (const valued_option& option : options) {
        if (!*option.option) continue;
        if (option.name == "config.file") {
            result.config_file = option.value;
        } else if (option.name == warm_flag) {
            result.is_warmed = true;
            result.flags.push_back({.key = "warmStart.url", .value = option.value, .flag = option.name});
        } else {
            result.flags.push_back({option.name, option.value});
        }
    }
    return result;
}

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
    CLI::App app{std::string{purpose}, "seriesgate"};
    app.allow_extras();
    app.footer(std::string{footer});
    command_line result;
    try {
        return parse(app, argc, argv);
    } catch (const CLI::CallForHelp&) {
        result.print = app.help();
    } catch (const CLI::CallForVersion& version_text) {
        result.print = version_text.what() + std::string{"\n"};
    } catch (const CLI::ArgumentMismatch& error) {  // "--listen: At Most 1 required but received 2"
        const std::string_view text = error.what();
        result.error = printable(text.substr(0, text.find(':')), 80) + ": is given twice";
    } catch (const std::exception& error) {
        result.error = printable(error.what(), 200);
    }
    return result;
}

}  // namespace seriesgate
