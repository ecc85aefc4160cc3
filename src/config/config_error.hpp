/// What is wrong with a configuration, and where.
#pragma once

#include <cstdint>
#include <string>

namespace seriesgate {

enum class severity : std::uint8_t {
    error,
    warning,  ///< allowed, and surely not meant
};

/// One thing wrong with the configuration.
struct config_error {
    std::string where;  ///< `FILE:LINE`, `FILE` when no line applies, `--flag`, or empty
    std::string key;    ///< dotted, such as `upstream.timeout`; empty for a flag and for the file as a whole
    std::string message;
    severity is = severity::error;

    /// `FILE:LINE: KEY: MESSAGE` on one line, without what is empty. A warning says so: `FILE:LINE: warning: KEY: ...`.
    std::string text() const;
};

}  // namespace seriesgate
