/// Where the gate listens from its start on, and whose place it takes.
#pragma once

#include <optional>
#include <vector>

#include "process/inherited_sockets.hpp"
#include "process/takeover_client.hpp"

namespace seriesgate {

class server;

struct inherited_listeners {
    given_listeners at;                     ///< what is not here has yet to be opened
    bool is_activated = false;              ///< by a service manager, which goes on listening when this process ends
    std::optional<takeover_client> before;  ///< a gate that runs, and waits for this one to serve
};

/// Takes the sockets of a service manager, or has a gate that runs leave its place: then it has saved its state, and
/// this process has a minute to serve.
/// @param takes_over whether the place of another gate is wanted. If there is none, the log says so.
/// Throws std::runtime_error with one readable line; then a gate that runs goes on. Threads: before there are others.
[[nodiscard]] inherited_listeners find_place(const config& settings, bool takes_over);

/// Takes over the files of unix sockets that the gate before has left. Threads: that of the two servers.
/// @param admin_server null: the admin paths are served where senders are.
void adopt_files(server& senders, server* admin_server);

}  // namespace seriesgate
