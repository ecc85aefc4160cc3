/// A request from its first byte to its last.
#pragma once

#include <optional>

#include "http/incoming_request.hpp"
#include "http/reply.hpp"
#include "http/served_connection.hpp"
#include "net/asio.hpp"

namespace seriesgate {

/// The sender has closed or the network failed: nobody to answer to.
inline reply gone() {
    return {.status = 0};
}

/// Reads a request to its end: who it is from is asked between its header and its body.
/// @return what to answer if it comes to none; a reply with status 0 is gone().
net::awaitable<std::optional<reply>> receive(served_connection& peer, incoming_request& current);

/// Reads what is left of a body that is not wanted. @return whether the next request can follow.
net::awaitable<bool> skip_rest(served_connection& peer, incoming_request& current);

}  // namespace seriesgate
