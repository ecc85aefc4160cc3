/// A tls_session over a timed_socket: what a timed_stream with TLS does.
#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "net/erased_handler.hpp"
#include "net/timed_socket.hpp"
#include "net/tls.hpp"

namespace seriesgate {

/// Every socket operation of it has the socket's time limit, so it has the same contract; but when a write, a handshake
/// or a shutdown has not been completed, part of a record may have gone: nothing can be written from then on.
/// Operations of one kind come one after the other; handshake and shutdown are of both kinds. An operation allocates
/// its handler, and a buffer of a record's size where there is none: they are given back while the peer is waited for.
/// Without memory it ends with no_memory.
/// Threads: the socket's. It must outlive its operations.
class tls_layer {
    enum class purpose : std::uint8_t { read, write, handshake, shutdown };

    /// An operation. Whoever waits for the socket holds it, so that it goes with what is waited for: the handler may
    /// own all of us.
    struct pending {
        purpose what;
        erased_handler handler;
        bool begins = true;      // what is completed now must not be told before its beginning has returned
        std::size_t writes = 0;  // how much plain text
    };
    enum class need : std::uint8_t { nothing, output_sent, input };
    /// What came of a try: whether it waits for something, and if it does not, how it ended.
    struct attempt {
        need needs = need::nothing;
        error_code error{};
        std::size_t bytes = 0;
    };

    std::unique_ptr<tls_session> session_;
    std::shared_ptr<timed_socket> socket_;  // ours too: at our end the peer is told, whoever goes first
    bool sends_ = false;                    // the socket has the session's output
    bool cut_off_ = false;                  // part of a record may have gone
    bool spoken_ = false;                   // something has gone since the last write that was none of it
    net::mutable_buffer into_;

  public:
    explicit tls_layer(std::unique_ptr<tls_session> session) noexcept : session_(std::move(session)) {}
    tls_layer(const tls_layer&) = delete;
    tls_layer& operator=(const tls_layer&) = delete;
    /// Tells the peer that nothing more comes, if that can be done at once.
    ~tls_layer();

    /// Before anything else.
    void attach(std::shared_ptr<timed_socket> socket) noexcept { socket_ = std::move(socket); }

    void handshake(erased_handler handler);
    void read_some(net::mutable_buffer into, erased_handler handler);
    /// @param plain at most tls_session::record_bytes_max; it is needed until this returns, and no longer.
    void write_some(net::const_buffer plain, erased_handler handler);
    /// Says that nothing more will be sent, and waits for the peer to say so, too; what else it sends is lost.
    void shutdown(erased_handler handler);
    /// Says that nothing more will be sent, if that can be done at once. Nothing can be written after it.
    void close_send() noexcept;

    /// Whether nothing has come that was not read, not even the peer's end. Nothing may be pending.
    [[nodiscard]] bool is_quiet();

    /// Whether something has been sent since the last write that nobody asked for: a warning, an answer to a key
    /// change.
    [[nodiscard]] bool has_spoken() const noexcept { return spoken_; }

    [[nodiscard]] const tls_session& session() const noexcept { return *session_; }
    /// Nothing may be pending; the layer is done for.
    [[nodiscard]] std::unique_ptr<tls_session> release() noexcept { return std::move(session_); }

  private:
    [[nodiscard]] error_code hindrance(operation kind) const;
    void post(erased_handler handler, error_code error, std::size_t bytes = 0);
    void go_on(pending one);
    [[nodiscard]] attempt attempt_at(purpose what);
    [[nodiscard]] tls_step take_step(purpose what, std::size_t& bytes);
    void await_input(pending one);
    void send(pending one);
    void go_on_sent(pending one, error_code error);
    void end(pending one, error_code error, std::size_t bytes = 0);
    void send_now();
    /// @return nothing when input has come, would_block when there is none
    error_code receive();
};

}  // namespace seriesgate
