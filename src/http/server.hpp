/// Accepts connections; the acceptor thread answers GET and HEAD, workers serve the rest in turn.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "http/connections.hpp"
#include "http/handshakes.hpp"
#include "http/worker.hpp"
#include "net/socket.hpp"

namespace seriesgate {

// --- A listening socket, TCP or unix.

/// Binds and listens. Throws std::runtime_error with one readable line.
[[nodiscard]] listening_socket listen_on(const listen_address& where);

struct entrance {
    service& front;  ///< of the acceptor thread
    connection_registry& connections;
    std::vector<service*> workers{};  ///< empty: the acceptor thread serves everything
    handshakes* arrivals = nullptr;   ///< for PROXY headers and TLS; null: neither
    bool has_proxy_protocol = false;
};

/// One listener for all workers. Senders keep few, long connections; SO_REUSEPORT would spread them unevenly.
/// A connection starts on the acceptor thread, where no request takes long. GET and HEAD stay there, so a health check
/// never waits for a busy worker. With the first other request the connection moves to a worker, for good.
/// Threads: the acceptor thread.
class server {
    const entrance at_;
    descriptor_relief& relief_;
    socket_file file_;
    stream_acceptor acceptor_;
    bool takes_file_ = false;
    bool is_paused_ = false;
    bool accepts_ = false;
    std::size_t next_worker_ = 0;

  public:
    /// Throws std::runtime_error if the socket cannot be used. @param at its `front` thread runs this server.
    server(entrance at, listening_socket where, descriptor_relief& relief);

    /// The bound address with its real port: "127.0.0.1:9201", "unix:/run/gate.sock".
    [[nodiscard]] std::string address() const { return endpoint_text(acceptor_.bound_to()); }
    [[nodiscard]] const connection_registry& connections() const noexcept { return at_.connections; }
    void give_up_slow_handshakes() { at_.connections.give_up_slow_handshakes(); }

    /// Accepts in spite of errors, until close() or pause(). Spawn it once, and again after resume().
    net::awaitable<void> accept();
    /// Also removes a unix socket's file, if this process owns it.
    void close();

    /// Stops accepting. New connections wait in the kernel's queue and are not refused.
    void pause();
    void resume() noexcept { is_paused_ = false; }
    /// Whether accept() still runs: for a moment also after pause() or close().
    [[nodiscard]] bool accepts() const noexcept { return accepts_; }

    /// For a takeover: the descriptor to pass on, and whether the last owner must remove a socket file.
    [[nodiscard]] int native_handle() noexcept { return acceptor_.native_handle(); }
    [[nodiscard]] bool has_file() const noexcept { return file_.is_ours(); }
    /// Until take_file(): the next process may serve there.
    void leave_file() noexcept {
        takes_file_ = file_.is_ours();
        file_.forget();
    }
    /// Owns the socket file that the previous process, or this one, has left.
    void take_file();

  private:
    void take(stream_socket socket, const stream_endpoint& peer);
    void pass_on(sender_connection from);
};

}  // namespace seriesgate
