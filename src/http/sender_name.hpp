/// What senders are called.
#pragma once

#include <string>

#include "net/socket.hpp"

namespace seriesgate {

/// In logs and answers: its address, "unix" for one of a unix socket, nothing if it has gone.
[[nodiscard]] std::string sender_at(const stream_endpoint& peer);

}  // namespace seriesgate
