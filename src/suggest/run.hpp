/// `seriesgate suggest`: prints a first configuration with limits from what a store has.
#pragma once

#include <string>

#include "top/subcommand.hpp"

namespace seriesgate::from_store {

struct options : top::client_options {
    std::string label{};  ///< empty: the best that the store has
};

/// One of three cases: `error` is set (print it, exit 1), `print` is set (print it to stdout, exit 0), or `asked` is
/// valid.
struct command_line {
    std::string error;  ///< one line, without the program's name
    std::string print;
    options asked;
};

command_line parse_command_line(int argc, const char* const* argv);

/// Asks the store, and prints the configuration. @return the exit status: 0, or 1 if there is none; stderr then has the
/// reason. Throws std::exception with one line for errors of files.
int run(const options& asked);

}  // namespace seriesgate::from_store
