/// A socket that listens, TCP or unix.
#pragma once

#include <functional>
#include <string>

#include "config/config.hpp"
#include "net/socket.hpp"
#include "net/socket_file.hpp"

namespace seriesgate {

/// Accepts, whatever goes wrong meanwhile. Threads: the context's.
class listener {
    socket_file file_;
    stream_acceptor acceptor_;

  public:
    /// What becomes of what comes.
    struct arrivals {
        std::function<void(stream_socket, const stream_endpoint& peer)> take;
        std::function<void()> out_of_descriptors;  ///< somebody has to make room
    };

    /// Binds and listens. Throws std::runtime_error with one readable line if that fails.
    listener(net::io_context& io, const listen_address& where);

    /// The address in use, with the real port: "127.0.0.1:9201", "unix:/run/gate.sock".
    [[nodiscard]] std::string address() const;

    /// Accepts until close(). Spawn it once; what is passed outlives it.
    net::awaitable<void> accept(const arrivals& to);
    /// A unix socket's file goes, too.
    void close();

  private:
    net::awaitable<error_code> accept_one(const arrivals& to);
};

}  // namespace seriesgate
