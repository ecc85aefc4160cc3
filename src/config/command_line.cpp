#include "config/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>

#include "config/keys.hpp"
#include "config/version.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

/// The flag, or the key of the file, that was probably meant.
std::string hint_for(const program_about& of, const CLI::App& app, std::string_view flag) {
    const auto name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty()) names.push_back(option->get_name());
    const std::string with_dashes = "--" + std::string{name};
    const bool is_key = of.is_key != nullptr && !name.empty() && of.is_key(name);
    if (is_key && std::ranges::count(names, with_dashes) == 0)
        return ", " + in_quotes(name) + " is a key of the file only";
    for (const std::string& longer : names)
        if (longer.starts_with(with_dashes + ".")) return ", did you mean " + longer + "?";
    const auto meant = closest(with_dashes, std::vector<std::string_view>{names.begin(), names.end()});
    return meant.empty() ? ", see " + of.see : ", did you mean " + std::string{meant} + "?";
}

std::string unknown_argument(const program_about& of, const CLI::App& app, const std::string& argument) {
    if (!argument.starts_with("-")) return in_quotes(argument) + ": unexpected argument, see " + of.see;
    const std::string flag = argument.substr(0, argument.find('='));
    return printable(flag, 80) + ": unknown flag" + hint_for(of, app, flag);
}

// `--maxHourlySeries -100` as `--maxHourlySeries=-100`, so that the number is taken for a value and no flag.
std::vector<std::string> with_numbers_joined(int argc, const char* const* argv) {
    std::vector<std::string> arguments;
    for (int i = 0; i < argc; ++i) {
        const std::string argument{argv[i]};
        const bool is_behind_flag = arguments.size() > 1 && arguments.back().starts_with("--") &&
                                    arguments.back().find('=') == std::string::npos;
        const bool is_negative = argument.size() > 1 && argument[0] == '-' && is_digit(argument[1]);
        if (is_behind_flag && is_negative)
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

/// A flag while CLI11 parses, which keeps pointers to it.
struct parsed_flag {
    const flag_about* about;
    std::string value{};
    bool is_set = false;  // without a value; so a value for it is an error
    CLI::Option* option = nullptr;
};

/// Accepts a missing value as an empty one: CLI11's own words for it ("1 required ADDR missing") change from version to
/// version. See take_values().
void add_to(CLI::App& app, parsed_flag& flag) {
    const flag_about& about = *flag.about;
    if (about.value_name.empty())
        flag.option = app.add_flag(about.name, flag.is_set, about.help);
    else
        flag.option = app.add_option(about.name, flag.value, about.help)->type_name(about.value_name)->expected(0, 1);
    if (about.is_hidden) flag.option->group("");
}

/// @return the flag without its value; empty if there is none.
std::string take_values(const std::vector<parsed_flag>& flags, parsed_flags& into) {
    for (const parsed_flag& each : flags) {
        const std::string& value_name = each.about->value_name;
        if (value_name.empty() ? !each.is_set : !*each.option) continue;
        const bool needs_value = !value_name.empty() && !value_name.starts_with('[');
        if (needs_value && each.value.empty()) return each.about->name + ": has no value";
        into.values[each.about->name] = each.value;
    }
    return "";
}

void parse(CLI::App& app, const program_about& of, const std::vector<std::string>& arguments, parsed_flags& into) {
    std::vector<parsed_flag> flags;
    for (const flag_about& each : of.flags) flags.push_back({.about = &each});
    for (parsed_flag& each : flags) add_to(app, each);
    if (!of.version.empty()) app.set_version_flag("--version", of.version, "print the version and exit");
    app.set_help_flag("--help,-h", "print this and exit");
    std::string unknown = single_dash(arguments);
    if (unknown.empty()) {
        std::vector<const char*> texts;
        for (const std::string& argument : arguments) texts.push_back(argument.c_str());
        app.parse(static_cast<int>(texts.size()), texts.data());
        if (app.remaining().empty()) {
            into.error = take_values(flags, into);
            return;
        }
        unknown = app.remaining().front();
    }
    into.error = unknown_argument(of, app, unknown);
}

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

/// A sentence of the reference as --help has it: in small letters, without marks of code and without the stop.
std::string plain(std::string text) {
    std::erase(text, '`');
    if (text.ends_with('.')) text.pop_back();
    if (text.size() > 1 && text[1] >= 'a' && text[1] <= 'z') text[0] = in_lower_case(text.substr(0, 1))[0];
    return text;
}

program_about about_gate() {
    std::vector<flag_about> flags{{"--config.file", "FILE", "the configuration, YAML"}};
    for (const config_key& key : config_keys())
        if (!key.flag.empty()) flags.push_back({"--" + key.about.name, key.flag, plain(key.about.help)});
    flags.insert(
        flags.end(),
        {{"--warm-from", "URL", "admit the series that this store has, in this one start (warmStart.url)"},
         {"--takeover", "", "take the place of the gate that runs: no request is refused, counts go on"},
         {"--check-config", "", "check the configuration, print every error, and exit"},
         {"--health-check", "[URL]", "ask a gate that runs whether it is healthy (default: port 9201 here), and exit"},
         {.name = "--print-reference",  // for those who build the gate
          .value_name = "[FORM]",
          .help = "print what is made of the keys: markdown, yaml or json-schema",
          .is_hidden = true}});
    return {.name = "seriesgate",
            .purpose = std::string{purpose},
            .footer = std::string{footer},
            .see = "--help",
            .flags = std::move(flags),
            .version = "seriesgate " + std::string{version()},
            .is_key = is_key};
}

/// The question about health is one of its own: it reads no configuration and starts nothing.
std::string company_of_health(const program_about& of, const parsed_flags& given) {
    for (const flag_about& each : of.flags)
        if (each.name != "--health-check" && given.values.contains(each.name))
            return "--health-check: not with " + each.name;
    return "";
}

}  // namespace

parsed_flags parse_flags(const program_about& of, int argc, const char* const* argv) {
    CLI::App app{of.purpose, of.name};
    app.allow_extras();
    app.footer(of.footer);
    parsed_flags result;
    try {
        parse(app, of, with_numbers_joined(argc, argv), result);
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

command_line parse_command_line(int argc, const char* const* argv) {
    const program_about about = about_gate();
    command_line result{parse_flags(about, argc, argv)};
    if (!result.error.empty() || !result.print.empty()) return result;
    const auto value_of = [&result](std::string_view flag) {
        const auto found = result.values.find(flag);
        return found == result.values.end() ? std::nullopt : std::optional{found->second};
    };
    if (const auto form = value_of("--print-reference")) {
        result.print = print_reference(*form);
        if (result.print.empty())
            result.error = "--print-reference: " + in_quotes(*form) + " is none of markdown, yaml and json-schema";
        return result;
    }
    result.health_check = value_of("--health-check");
    if (result.health_check) result.error = company_of_health(about, result);
    result.config_file = value_of("--config.file");
    result.check_config = result.values.contains("--check-config");
    result.takes_over = result.values.contains("--takeover");
    for (const config_key& key : config_keys())
        if (const auto value = value_of("--" + key.about.name)) result.flags.push_back({key.about.name, *value});
    if (const auto store = value_of("--warm-from")) {
        result.is_warmed = true;
        result.flags.push_back({.key = "warmStart.url", .value = *store});
    }
    return result;
}

}  // namespace seriesgate
