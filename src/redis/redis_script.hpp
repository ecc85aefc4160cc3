/// A script that the server runs.
#pragma once

#include <string>

namespace seriesgate {

/// Servers remember scripts by the digest of their text, and forget them when they are restarted.
struct redis_script {
    std::string text;  ///< Lua
    std::string sha1;  ///< of the text, forty hexadecimal digits

    explicit redis_script(std::string lua);
};

}  // namespace seriesgate
