/// From the web configuration file to what it says, or to every error there is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config_error.hpp"
#include "config/web_config.hpp"

namespace seriesgate {

struct web_outcome {
    web_config value;                  ///< to be used only when there are no errors
    std::vector<config_error> errors;  ///< all of them

    bool ok() const noexcept { return errors.empty(); }
};

/// Reads the file, and those of tokens. Relative paths in it begin where it stands. Certificates and keys are not
/// looked at. Threads: any. Does not throw on any content.
web_outcome load_web_config(const std::string& file);

/// The same for a text in memory. No file is looked at.
/// @param name the file's, for errors and for relative paths.
web_outcome load_web_config_text(std::string_view text, const std::string& name);

}  // namespace seriesgate
