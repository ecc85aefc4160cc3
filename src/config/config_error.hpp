/// What is wrong with a configuration, and where.
#pragma once

#include <string>

namespace seriesgate {

/// One thing wrong with the configuration.
struct config_error {
    std::string where;  ///< `FILE:LINE`, `FILE` when no line applies, `--flag`, or empty
    std::string key;    ///< dotted, such as `upstream.timeout`; empty for a flag and for the file as a whole
    std::string message;

    /// `FILE:LINE: KEY: MESSAGE` on one line, without what is empty.
    std::string text() const;
};

}  // namespace seriesgate
