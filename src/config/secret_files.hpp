#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/config_error.hpp"

/// Files that hold secrets, and who else may get at them.
namespace seriesgate {

/// What is doubtful about a file with a secret, or the directory it stands in: other users may read, change or replace
/// it. Empty if nothing is, and of what cannot be looked at: whoever reads the file says so. Groups are believed: a
/// group is made of whom the operator has put there. Follows links.
std::string doubt_of_secret_file(const std::string& path);

/// One warning for each such file that the configuration names, and for the secret in state.dir.
/// @param file the configuration's own; empty: none. It is looked at where it holds secrets itself.
std::vector<config_error> doubtful_secret_files(const config& read, const std::string& file);

}  // namespace seriesgate
