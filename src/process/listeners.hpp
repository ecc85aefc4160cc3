/// The gate's listening sockets at its start: inherited, or in a takeover those of the running gate.
#pragma once

#include <optional>
#include <vector>

#include "process/inherited_sockets.hpp"
#include "process/takeover_client.hpp"

namespace seriesgate {

class server;

struct inherited_listeners {
    given_listeners at;                     ///< missing ones still have to be opened
    bool is_activated = false;              ///< by a service manager, whose sockets outlive this process
    std::optional<takeover_client> before;  ///< the running gate of a takeover; waits until this one serves
};

/// Takes the service manager's sockets, or performs the first half of a takeover: the running gate has saved its state,
/// and this process then has a minute to serve. Throws std::runtime_error with one readable line; then the running gate
/// continues. Threads: call it before starting any.
/// @param takes_over whether to take over. If no gate runs, the log says so.
[[nodiscard]] inherited_listeners find_listeners(const config& settings, bool takes_over);

/// Takes ownership of the socket files left by the old process. Threads: that of the two servers.
/// @param admin_server null: the sender listener serves the admin paths.
void adopt_files(server& senders, server* admin_server);

}  // namespace seriesgate
