#pragma once

#include <optional>
#include <string>

#include "config/load.hpp"

namespace seriesgate {

/// What the arguments say. Exactly one of four cases: `error` is set (print it, exit 1), `print` is set (print it to
/// stdout, exit 0), `health_check` is set (ask it, read no configuration), or the process is to run or to check its
/// configuration.
struct command_line {
    std::string error;  ///< one line, without the program's name
    std::string print;  ///< the answer to --help or --version, with its newline

    std::optional<std::string> config_file;
    overrides flags;
    bool check_config = false;
    bool takes_over = false;                  ///< the place of a gate that runs
    bool is_warmed = false;                   ///< a warm start, whatever is known from before
    std::optional<std::string> health_check;  ///< the URL; empty for the usual one
};

/// Reads the arguments. The values of the flags are only collected here; load_config checks them.
/// Threads: any. Does not throw on any arguments.
command_line parse_command_line(int argc, const char* const* argv);

}  // namespace seriesgate
