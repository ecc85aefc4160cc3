/// Listening sockets that the gate inherits: from the service manager, or in a takeover from the running gate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "net/socket.hpp"

namespace seriesgate {

/// Names of sockets, by purpose.
inline constexpr std::string_view gate_socket_name = "gate";    ///< `listen`
inline constexpr std::string_view admin_socket_name = "admin";  ///< `admin.listen`

struct given_socket {
    std::string name;  ///< one of the two above, or any other
    listening_socket at;
};

struct given_listeners {
    std::optional<listening_socket> gate;
    std::optional<listening_socket> admin;
};

/// Takes the sockets of LISTEN_FDS if LISTEN_PID is this process, and marks them close-on-exec.
/// Source: sd_listen_fds(3): descriptors from 3 on; LISTEN_FDNAMES has their names, separated by colons.
/// Throws std::runtime_error for anything but a listening stream socket. Threads: before others, as it removes the
/// variables.
[[nodiscard]] std::vector<given_socket> take_activated_sockets();

/// Assigns each socket by its name, or by its address if the name is unknown. A known name is trusted at any address.
/// Throws std::runtime_error with one readable line if a socket fits nowhere or two have one purpose.
[[nodiscard]] given_listeners assign_sockets(std::vector<given_socket> given, const listen_address& gate,
                                             const std::optional<listen_address>& admin);

/// Whether the bound address matches the configured one: host and port, or path. Wildcards of IPv4 and IPv6 match each
/// other, any host name matches without a lookup, and port 0 is any port.
[[nodiscard]] bool fits(const stream_endpoint& bound, const listen_address& configured);

}  // namespace seriesgate
