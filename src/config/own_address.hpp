#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.hpp"

namespace seriesgate {

enum class own_address : std::uint8_t {
    no,
    maybe,  ///< this machine and the port, and yet another program may listen there
    yes,
};

/// Whether a gate that listens there sends to itself: to its own port, at the host it listens on, or at this machine
/// (`localhost`, a loopback address, 0.0.0.0) where it listens on that or on everything. Names are not resolved. Two
/// addresses of this machine, such as 127.0.0.1 and ::1, are two sockets, and two programs may have them.
own_address find_own_address(const listen_address& listen, const store_backend& upstream);

/// One of the gate's listeners, by its key.
struct own_listener {
    std::string_view key;
    const listen_address& where;
};

/// What is told of a URL: an error if it is, a warning if it may be. @param key of the listener
std::string in_words(own_address found, std::string_view key);

}  // namespace seriesgate
