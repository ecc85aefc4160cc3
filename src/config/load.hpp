/// From a file and flags to a configuration, or to every error there is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/config_error.hpp"
#include "config/environment.hpp"

namespace seriesgate {

/// A key given on the command line, as text: it goes through the same checks as the file. The flag is `--` + key.
struct override_value {
    std::string key;
    std::string value;
};
using overrides = std::vector<override_value>;

struct load_outcome {
    config value;                          ///< to be used only when there are no errors
    std::vector<config_error> errors;      ///< all of them, not only the first
    std::vector<config_error> warnings{};  ///< what is allowed and surely not meant; looked for where nothing is wrong

    bool ok() const noexcept { return errors.empty(); }
};

/// Reads the file, fills environment variables in, applies the overrides, checks everything, and does the same for the
/// web configuration file, if there is to be one.
/// @param file no file means defaults; upstream.url must then come from the overrides.
/// Threads: any. Does not throw on any content of the file.
load_outcome load_config(const std::optional<std::string>& file, const overrides& flags);

/// The same for a text in memory. The web configuration file is not looked at.
/// @param name what errors call the file; empty means there is none.
load_outcome load_config_text(std::string_view text, std::string_view name, const overrides& flags,
                              const environment& variables = variable_of_process);

}  // namespace seriesgate
