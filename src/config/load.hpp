/// From files and flags to a configuration, or to every error there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/config_error.hpp"
#include "config/environment.hpp"

namespace seriesgate {

/// A key given on the command line, as text: it goes through the same checks as the file.
struct override_value {
    std::string key;
    std::string value;
};
using overrides = std::vector<override_value>;

struct load_outcome {
    config value;                          ///< to be used only when there are no errors
    std::vector<config_error> errors;      ///< all of them, not only the first
    std::vector<config_error> warnings{};  ///< allowed, but surely a mistake; most are looked for only without errors

    bool ok() const noexcept { return errors.empty(); }
};

/// Reads the file, fills in environment variables, applies the overrides and checks everything. Then reads the web
/// configuration file, if one is named.
/// @param file no file means defaults; upstream.url must then come from the overrides.
/// Threads: any. Does not throw on any content of the file.
load_outcome load_config(const std::optional<std::string>& file, const overrides& flags);

/// The same for a text in memory. The web configuration file is not looked at.
/// @param name what errors call the file; empty means there is none.
load_outcome load_config_text(std::string_view text, std::string_view name, const overrides& flags,
                              const environment& variables = variable_of_process);

// --- The web configuration file.

struct web_outcome {
    web_config value;                  ///< to be used only when there are no errors
    std::vector<config_error> errors;  ///< all of them
    std::vector<std::string> refused;  ///< tokens without a usable text, and why: a line each; empty at the start

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
