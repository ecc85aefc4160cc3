/// The command line of `seriesgate top`.
#pragma once

#include <chrono>
#include <string>

#include "top/subcommand.hpp"

namespace seriesgate::top {

/// The gate is asked at `admin.listen` if that is set.
struct options : client_options {
    std::chrono::milliseconds interval{2000};
    bool once = false;
};

/// One of three cases: `error` is set (print it, exit 1), `print` is set (print it to stdout, exit 0), or `asked` is
/// valid.
struct command_line {
    std::string error;  ///< one line, without the program's name
    std::string print;
    options asked;
};

command_line parse_command_line(int argc, const char* const* argv);

}  // namespace seriesgate::top
