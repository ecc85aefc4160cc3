/// Takes connections in, answers who asks for health and figures, and deals those that write to the workers in turn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "http/connections.hpp"
#include "http/tls_handshakes.hpp"
#include "http/worker.hpp"
#include "net/socket.hpp"
#include "net/socket_file.hpp"

namespace seriesgate {

// --- A socket that listens, TCP or unix.

/// Binds and listens. Throws std::runtime_error with one readable line if that fails.
[[nodiscard]] listening_socket listen_on(const listen_address& where);

/// Accepts, whatever goes wrong meanwhile. Threads: the context's.
class listener {
    net::io_context& io_;
    socket_file file_;
    stream_acceptor acceptor_;
    bool takes_file_ = false;
    bool is_paused_ = false;
    bool accepts_ = false;

  public:
    /// What becomes of what comes.
    struct arrivals {
        std::function<void(stream_socket, const stream_endpoint& peer)> take;
        std::function<void()> out_of_descriptors;  ///< somebody has to make room
    };

    /// Throws std::runtime_error if it cannot be used.
    listener(net::io_context& io, listening_socket at);

    /// The address in use, with the real port: "127.0.0.1:9201", "unix:/run/gate.sock".
    [[nodiscard]] std::string address() const;

    /// Accepts until close() or pause(). Spawn it once, and once more after a pause; what is passed outlives it.
    net::awaitable<void> accept(const arrivals& to);
    /// A unix socket's file goes, too, if it is ours.
    void close();

    /// Nobody is accepted any more. Whoever comes waits in the system's queue, and is not refused.
    void pause();
    /// Whether somebody may still be accepted: for a moment after pause() or close(), too.
    [[nodiscard]] bool accepts() const noexcept { return accepts_; }

    /// What another process gets to accept from this socket: its descriptor, and whether the file of it has to be
    /// removed by whoever closes it last.
    [[nodiscard]] int native_handle() noexcept { return acceptor_.native_handle(); }
    [[nodiscard]] bool has_file() const noexcept { return file_.is_ours(); }
    /// The file is that process' from now on.
    void leave_file() noexcept { file_.forget(); }
    /// The other way round: it is ours, if another process has left it to us.
    void take_file();

  private:
    net::awaitable<error_code> accept_one(const arrivals& to);
};

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

  private:
    void take(stream_socket socket, const stream_endpoint& peer);
    void pass_on(sender_connection from);
};

}  // namespace seriesgate
