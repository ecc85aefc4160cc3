/// Connections that lie between two requests while it is open which process serves them.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "http/connections.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// Nobody reads from them. What senders write meanwhile waits in the system for whoever gets the connection.
/// Threads: any.
class idle_connections {
  public:
    struct one {
        detached_socket socket;
        connection_lease lease;  // goes before the socket
        service* of = nullptr;   ///< who has served it
    };

  private:
    mutable std::mutex guard_;
    std::vector<one> all_;

  public:
    /// @param from plain, and nothing of it has been read ahead. Threads: the one that it belongs to.
    void put(sender_connection from, service& of);
    [[nodiscard]] std::size_t size() const;
    /// All of them; none are left.
    [[nodiscard]] std::vector<one> take();
};

}  // namespace seriesgate
