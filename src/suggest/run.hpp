/// `seriesgate suggest`: prints a first configuration with limits from what a store has.
#pragma once

#include <string>

#include "top/subcommand.hpp"

namespace seriesgate::from_store {

struct options : top::client_options {
    std::string label{};  ///< empty: the best that the store has
};

top::parsed_subcommand<options> parse_command_line(int argc, const char* const* argv);

/// Asks the store, and prints the configuration. @return the exit status: 0, or 1 if there is none; stderr then has the
/// reason. Throws std::exception with one line for errors of files.
int run(const options& asked);

}  // namespace seriesgate::from_store
