/// What a sender is called.
#pragma once

#include <string>

#include "net/socket.hpp"

namespace seriesgate {

/// How logs and answers call a peer: its address, "unix" for one of a unix socket, nothing if it has gone.
[[nodiscard]] inline std::string sender_at(const stream_endpoint& peer) {
    if (const auto known = ip_address_of(peer)) return known->to_string();
    return is_unix(peer) ? "unix" : "";
}

}  // namespace seriesgate
