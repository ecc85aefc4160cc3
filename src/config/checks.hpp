/// Checks of a configuration that need all its keys.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/config_error.hpp"

namespace seriesgate {

/// Reports errors, mostly contradictions, at keys that the user has set: the defaults fit each other.
void check_config(const config& read, config_report& report);

/// Warns of what is allowed, but surely a mistake. For a configuration without errors.
void lint_config(const config& read, config_report& report);

/// Errors of limits and exemptions that match or group by an ignored label: series that differ only there count as one.
/// @param ignored ignoreLabels. @return errors with keys, and without places.
std::vector<config_error> ignored_labels(const limit_rules& rules, std::span<const std::string> ignored);

/// The key of the first maximum of active series; empty if there is none.
std::string active_maximum_key(const limit_rules& rules);

/// Warns of each file with a secret that other users may read, change or replace: files that the configuration names,
/// and the secret in state.dir. Root, who may only be checking, asks for the user whose state.dir it is.
/// @param file the configuration's own; empty: none. It is looked at where it holds secrets itself.
std::vector<config_error> lint_secret_files(const config& read, const std::string& file);

/// What is doubtful about a file with a secret, or the directory it stands in. Empty if nothing is, and of what cannot
/// be looked at: whoever reads the file says so. Groups are believed: the operator has put their members there. Follows
/// links.
/// @param user whose secret it is.
std::string doubt_of_secret_file(const std::string& path, uid_t user);

}  // namespace seriesgate
