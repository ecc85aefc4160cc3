/// Takes connections in, answers who asks for health and figures, and deals those that write to the workers in turn.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "http/connections.hpp"
#include "http/descriptor_relief.hpp"
#include "http/handshakes.hpp"
#include "http/listener.hpp"
#include "http/service.hpp"

namespace seriesgate {

/// Where connections come in, and who is there for them.
struct entrance {
    service& front;  ///< of the front desk
    connection_registry& connections;
    std::vector<service*> workers{};  ///< none: everything is answered at the front desk
    handshakes* tls = nullptr;        ///< none: plain
};

/// One listener for all workers: senders keep few, long connections, and SO_REUSEPORT's hashing would idle workers.
///
/// A connection begins on the front desk's thread, where nothing takes long. The first byte of each request there tells
/// whether it stays: GET and HEAD do, so that health is answered whatever the workers are at; with anything else the
/// connection moves to a worker, for good.
///
/// Threads: the front desk's.
class server {
    const entrance at_;
    descriptor_relief& relief_;
    listener listener_;
    listener::arrivals arrivals_;
    std::size_t next_worker_ = 0;

  public:
    /// @param at its front desk runs this server, too.
    server(entrance at, listening_socket where, descriptor_relief& relief);

    /// The address in use, with the real port: "127.0.0.1:9201".
    [[nodiscard]] std::string address() const { return listener_.address(); }

    /// Accepts until close(), whatever goes wrong meanwhile. Spawn it once.
    net::awaitable<void> accept();
    void close() { listener_.close(); }
    /// All that have come in here and are open.
    [[nodiscard]] const connection_registry& connections() const noexcept { return at_.connections; }
    /// What accepts, for who pauses it or hands it to another process.
    [[nodiscard]] listener& entry() noexcept { return listener_; }

    /// Serves a connection that another process has accepted, and that lies between two requests. One that would have
    /// to begin with TLS is closed.
    void adopt(detached_socket from);

  private:
    void take(stream_socket socket, const stream_endpoint& peer);
    void pass_on(sender_connection from);
};

}  // namespace seriesgate
