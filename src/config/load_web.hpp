/// From the web configuration file to what it says, or to every error there is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_error.hpp"
#include "config/web_config.hpp"

namespace seriesgate {

struct web_outcome {
    web_config value;                  ///< to be used only when there are no errors
    std::vector<config_error> errors;  ///< all of them
    std::vector<std::string> refused;  ///< tokens that nobody can have, and why: a line each; empty at the start

    bool ok() const noexcept { return errors.empty(); }
};

/// What to do with a token whose file is gone or holds none.
enum class bad_tokens : std::uint8_t {
    are_errors,
    are_refused,  ///< they stay without a text, and everything else counts
};

/// Reads the file, and those of tokens. Relative paths in it begin where it stands. Certificates and keys are not
/// looked at. What is not a regular file is an error. Threads: any. Does not throw on any content.
web_outcome load_web_config(const std::string& file, bad_tokens bad = bad_tokens::are_errors);

/// The same for a text in memory. No file is looked at.
/// @param name the file's, for errors and for relative paths.
web_outcome load_web_config_text(std::string_view text, const std::string& name);

}  // namespace seriesgate
