/// A socket that listens, TCP or unix.
#pragma once

#include <functional>
#include <string>

#include "config/config.hpp"
#include "net/socket.hpp"
#include "net/socket_file.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
