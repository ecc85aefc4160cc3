/// Sockets that listen already when the gate starts: the service manager's, or those of a gate whose place this one
/// takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "net/socket_file.hpp"

namespace seriesgate {

/// What a socket is for, as its name says.
inline constexpr std::string_view gate_socket_name = "gate";    ///< `listen`
inline constexpr std::string_view admin_socket_name = "admin";  ///< `admin.listen`

struct given_socket {
    std::string name;  ///< one of the two above, or any other
    listening_socket at;
};

/// Where the gate listens without opening anything.
struct given_listeners {
    std::optional<listening_socket> gate;
    std::optional<listening_socket> admin;
};

/// Those of LISTEN_FDS, if LISTEN_PID is this process; no program that this one might start gets them.
/// Source: sd_listen_fds(3): they begin at descriptor 3, LISTEN_FDNAMES has their names, with colons between them.
/// Throws std::runtime_error if one of them is no stream socket that listens. Threads: before there are others, for it
/// removes the variables.
[[nodiscard]] std::vector<given_socket> take_activated_sockets();

/// Finds out what each is for: by its name or, if that is neither of the two, by where it is bound. The address of one
/// that goes by its name is who gave it to say.
/// Throws std::runtime_error with one readable line for one that fits nowhere, and for two of a kind: whoever connects
/// there would wait for ever.
[[nodiscard]] given_listeners assign_sockets(std::vector<given_socket> given, const listen_address& gate,
                                             const std::optional<listen_address>& admin);

/// Whether a socket that is bound there is the one that is configured: host and port, or path. A wildcard of IPv6 is
/// one of IPv4, too; a host that is a name is not looked up, and fits; port 0 is any.
[[nodiscard]] bool fits(const stream_endpoint& bound, const listen_address& configured);

}  // namespace seriesgate
