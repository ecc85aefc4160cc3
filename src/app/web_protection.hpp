/// What a web configuration asks of senders, beside that of another.
#pragma once

#include <string>
#include <vector>

#include "config/config_error.hpp"
#include "config/web_config.hpp"

namespace seriesgate {

/// Which keys of them differ, but for TLS: names of parts, and never what they hold, for those are passwords.
std::vector<std::string> differences(const web_config& before, const web_config& after);

/// Why `after` is to be taken over by nobody while the gate runs.
/// @param file its name.
std::vector<config_error> mistakes_until_restart(const web_config& before, const web_config& after,
                                                 const std::string& file);

/// What senders have to prove by `before` and not by `after`: each as a mistake. What is less because users are gone,
/// with what they may, is not less protection.
std::vector<config_error> less_protected(const web_config& before, const web_config& after, const std::string& file);

}  // namespace seriesgate
