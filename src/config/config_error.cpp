#include "config/config_error.hpp"

namespace seriesgate {

std::string config_error::text() const {
    std::string line = where;
    for (const std::string& part : {is == severity::warning ? "warning" : std::string{}, key, message}) {
        if (!line.empty() && !part.empty()) line += ": ";
        line += part;
    }
    return line;
}

}  // namespace seriesgate
