/// Command lines: of the gate, and what those of its subcommands have in common.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"

namespace seriesgate {

// --- Flags of any program.

struct flag_about {
    std::string name;        ///< `--url`
    std::string value_name;  ///< empty: it takes no value; in brackets: the value may be left out
    std::string help;
    bool is_hidden = false;  ///< not in --help
};

struct program_about {
    std::string name;
    std::string purpose;
    std::string footer;
    std::string see;                                  ///< what prints all flags: `top --help`
    std::vector<flag_about> flags;                    ///< besides --help
    std::string version{};                            ///< what --version prints; empty: there is no such flag
    bool (*is_key)(std::string_view name) = nullptr;  ///< whether a file can say it, where no flag can
};

/// One of three cases: `error` is set, `print` is set (the answer to --help or --version, with its newline), or
/// `values` has the flags that are given, those without a value as empty texts.
struct parsed_flags {
    std::string error{};  ///< one line, without the program's name
    std::string print{};
    std::map<std::string, std::string, std::less<>> values{};
};

/// Threads: any. Does not throw on any arguments.
parsed_flags parse_flags(const program_about& of, int argc, const char* const* argv);

// --- Flags of the gate.

/// What the arguments say. Exactly one of:
/// - error: print it, exit 1
/// - print: print it to stdout, exit 0
/// - health_check: ask it, read no configuration
/// - none of these: run, or check the configuration
struct command_line : parsed_flags {
    std::optional<std::string> config_file{};
    overrides flags{};
    bool check_config = false;
    bool takes_over = false;                    ///< the place of a gate that runs
    bool is_warmed = false;                     ///< a warm start, whatever is known from before
    std::optional<std::string> health_check{};  ///< the URL; empty for the usual one
};

/// Reads the arguments. The values of the flags are only collected here; load_config checks them.
/// Threads: any. Does not throw on any arguments.
command_line parse_command_line(int argc, const char* const* argv);

}  // namespace seriesgate
