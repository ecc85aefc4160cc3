/// A connection with time limits: TCP or a unix socket, plain or TLS.
#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"
#include "net/timed_socket.hpp"
#include "net/tls_session.hpp"

namespace seriesgate {

// --- TLS over a timed_socket.

/// Connects a tls_session with a socket; each operation has the socket's time limit. After an incomplete write
/// or handshake, part of a record may have been sent, so no further write succeeds. Operations of one kind must not
/// overlap; a handshake is of both kinds. An operation allocates its handler, and a record-sized
/// buffer if there is none; buffers are freed while it waits for the peer. Without memory it ends with no_memory.
/// Threads: the socket's. Must outlive its operations.
class tls_layer {
    enum class purpose : std::uint8_t { read, write, handshake };

    /// An operation. The socket operation that it waits for owns it, since its handler may own this object.
    struct pending {
        purpose what;
        erased_handler handler;
        bool begins = true;      // must not complete before the starting call has returned
        std::size_t writes = 0;  // bytes of plain text
    };
    enum class need : std::uint8_t { nothing, output_sent, input };
    /// Result of a step: the need to wait for, or else the end.
    struct attempt {
        need needs = need::nothing;
        error_code error{};
        std::size_t bytes = 0;
    };

    std::unique_ptr<tls_session> session_;
    std::shared_ptr<timed_socket> socket_;  // shared, so that the destructor can still send a close_notify
    bool sends_ = false;                    // the socket is sending the session's output
    bool cut_off_ = false;                  // part of a record may have been sent
    bool spoken_ = false;                   // TLS sent something by itself since the last write
    net::mutable_buffer into_;

  public:
    explicit tls_layer(std::unique_ptr<tls_session> session) noexcept : session_(std::move(session)) {}
    /// Sends a close_notify, if that needs no wait.
    ~tls_layer();

    void attach(std::shared_ptr<timed_socket> socket) noexcept { socket_ = std::move(socket); }

    void handshake(erased_handler handler);
    void read_some(net::mutable_buffer into, erased_handler handler);
    /// @param plain at most tls_session::record_bytes_max; used only during the call.
    void write_some(net::const_buffer plain, erased_handler handler);
    /// Sends a close_notify, if that needs no wait. No write may follow.
    void close_send() noexcept;

    /// Whether no unread data and no end has arrived. Nothing may be pending.
    [[nodiscard]] bool is_quiet();

    /// Whether TLS has sent a warning or a key change answer by itself since the last write.
    [[nodiscard]] bool has_spoken() const noexcept { return spoken_; }

    [[nodiscard]] const tls_session& session() const noexcept { return *session_; }
    /// Nothing may be pending; no other call may follow.
    [[nodiscard]] std::unique_ptr<tls_session> release() noexcept { return std::move(session_); }

  private:
    [[nodiscard]] error_code hindrance(operation kind) const;
    void post(erased_handler handler, error_code error, std::size_t bytes = 0);
    void go_on(pending one);
    [[nodiscard]] attempt attempt_at(purpose what);
    void await_input(pending one);
    void send(pending one);
    void go_on_sent(pending one, error_code error);
    void end(pending one, error_code error, std::size_t bytes = 0);
    void send_now();
    error_code receive();
};

/// All operations have time limits as in timed_socket, with and without TLS. Models AsyncReadStream and
/// AsyncWriteStream. May be moved only while nothing is pending. Plain operations allocate no more than Asio does, and
/// pay one test for TLS.
///
/// A read ends with net::error::eof only after the peer's orderly end; a TLS connection that is cut off gives
/// tls_error::truncated. Threads: the executor's. Must outlive its operations.
class timed_stream {
    // Shared with TLS and the timer's handler.
    std::shared_ptr<timed_socket> socket_;
    std::unique_ptr<tls_layer> tls_;

  public:
    using executor_type = timed_socket::executor_type;
    using clock = timed_socket::clock;

    /// If memory runs out, the caller still has the socket.
    /// @param tls as for start_tls(), or a session in progress of another thread's stream.
    explicit timed_stream(stream_socket&& socket, std::unique_ptr<tls_session> tls = {}) {
        auto layer = tls ? std::make_unique<tls_layer>(std::move(tls)) : nullptr;
        socket_ = std::make_shared<timed_socket>(std::move(socket));
        if (layer) layer->attach(socket_);
        tls_ = std::move(layer);
    }

    executor_type get_executor() noexcept { return socket_->get_executor(); }

    void expires_after(clock::duration limit) { expires_at(clock::now() + limit); }
    void expires_at(clock::time_point limit) { socket_->expires_at(limit); }
    /// Shortens the limit, never extends it.
    void expires_by(clock::time_point limit) { expires_at(std::min(limit, socket_->limit())); }
    [[nodiscard]] bool expired() const noexcept { return socket_->expired(); }
    /// Back to no limit, while the stream is kept without use.
    void forget_limit() noexcept { socket_->forget_limit(); }
    [[nodiscard]] bool has_limit() const noexcept { return socket_->limit() != clock::time_point::min(); }

    template <class Token>
    auto async_connect(const stream_endpoint& endpoint, Token&& token) {
        return net::async_initiate<Token, void(error_code)>(
            [this](auto handler, const stream_endpoint& to) {
                assert(!tls_);
                socket_->connect(to, std::move(handler));
            },
            token, endpoint);
    }

    /// Starts TLS: until async_handshake has succeeded, no other operation may start.
    void start_tls(std::unique_ptr<tls_session> session) {
        assert(!tls_);
        tls_ = std::make_unique<tls_layer>(std::move(session));
        tls_->attach(socket_);
    }
    [[nodiscard]] bool has_tls() const noexcept { return tls_ != nullptr; }
    [[nodiscard]] const tls_session* tls() const noexcept { return tls_ ? &tls_->session() : nullptr; }

    /// After tls_error::failed, tls()->failure() has the reason.
    template <class Token>
    auto async_handshake(Token&& token) {
        return net::async_initiate<Token, void(error_code)>(
            [this](auto handler) {
                tls_->handshake({std::move(handler), get_executor(), erased_handler::no_count{}});
            },
            token);
    }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return net::async_initiate<Token, void(error_code, std::size_t)>(
            [this](auto handler, const Buffers& into) {
                if (tls_) [[unlikely]]
                    return tls_->read_some(stream_socket::first_of<net::mutable_buffer>(into),
                                           erased(std::move(handler)));
                socket_->read_some(into, std::move(handler));
            },
            token, buffers);
    }

    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return net::async_initiate<Token, void(error_code, std::size_t)>(
            [this](auto handler, const Buffers& from) {
                if (tls_) [[unlikely]]
                    return this->write_record(from, erased(std::move(handler)));
                socket_->write_some(from, std::move(handler));
            },
            token, buffers);
    }

    /// Reads or writes what needs no wait and no turn of the event loop, which is half the cost of a small operation.
    /// @param error net::error::would_block if an asynchronous operation must follow; always with TLS.
    /// @return number of bytes
    template <class Buffers>
    std::size_t read_now(const Buffers& into, error_code& error) {
        if (tls_) [[unlikely]]
            return left_to_wait(error);
        return socket_->read_now(into, error);
    }
    template <class Buffers>
    std::size_t write_now(const Buffers& from, error_code& error) {
        if (tls_) [[unlikely]]
            return left_to_wait(error);
        return socket_->write_now(from, error);
    }

    void no_delay() noexcept { set_no_delay(socket_->socket()); }
    /// Ends our direction: the peer reads an end.
    void shutdown_send() noexcept {
        if (tls_) tls_->close_send();
        socket_->socket().shutdown_sending();
    }
    /// Ends pending operations with net::error::operation_aborted. Unread data stays.
    void cancel() noexcept { socket_->socket().cancel_pending(); }
    void close() noexcept { socket_->socket().close_quietly(); }

    /// Null outside of tests, see stream_socket.
    [[nodiscard]] transport* virtual_end() noexcept { return socket_->socket().virtual_end(); }

    /// Empty if the peer has gone.
    [[nodiscard]] stream_endpoint peer() const noexcept { return socket_->socket().peer(); }

    /// The parts of a stream, for a new one on another thread.
    struct released {
        stream_socket socket;
        std::unique_ptr<tls_session> tls;
    };
    /// Gives up socket and TLS. Nothing may be pending; no other call may follow.
    [[nodiscard]] released release() && {
        const auto layer = std::move(tls_);
        const auto ended = std::move(socket_);
        return {ended->release(), layer ? layer->release() : nullptr};
    }

    /// Whether the peer's host has certainly not acknowledged all of the last write. Still works after the connection
    /// has broken, until it is closed. False if TLS has sent something by itself since.
    /// After the peer's FIN, true means that the peer has not read all; after a reset it means nothing, since
    /// acknowledgements may be delayed.
    [[nodiscard]] bool has_unconfirmed() const noexcept {
        return !(tls_ && tls_->has_spoken()) && socket_->socket().has_unconfirmed();
    }

    /// Open, without unread data and without the peer's end.
    [[nodiscard]] bool is_quiet() { return tls_ ? tls_->is_quiet() : socket_->socket().is_quiet(); }
    /// The peer has ended its direction, or has gone, even if unread data remains.
    [[nodiscard]] bool peer_has_ended() const noexcept { return socket_->socket().peer_has_ended(); }

  private:
    static std::size_t left_to_wait(error_code& error) noexcept {
        error = net::error::would_block;
        return 0;
    }

    template <class Handler>
    erased_handler erased(Handler handler) {
        return {std::move(handler), get_executor()};
    }

    /// Joins the many small pieces of a header into one record.
    template <class Buffers>
    void write_record(const Buffers& from, erased_handler handler) {
        const net::const_buffer first =
            net::buffer(stream_socket::first_of<net::const_buffer>(from), tls_session::record_bytes_max);
        if (first.size() == tls_session::record_bytes_max || first.size() == net::buffer_size(from))
            return tls_->write_some(first, std::move(handler));
        std::array<char, tls_session::record_bytes_max> record;
        tls_->write_some(net::buffer(record, net::buffer_copy(net::buffer(record), from)), std::move(handler));
    }
};

// --- Opening a connection.

/// Why a connection could not be opened.
struct connect_fault {
    error_code error;
    bool in_handshake;
    std::string text;  ///< one line: `connecting to 127.0.0.1:8428: Connection refused`
};

/// Gives null for a plain connection.
using session_maker = std::function<std::unique_ptr<tls_session>()>;

/// Connects, sends small messages without delay, and completes a TLS handshake, within the stream's time limit.
/// @param make_session called once connected; throws boost::system::system_error for a name that no server can have.
/// All arguments must outlive it.
/// @return nothing if the connection is open.
net::awaitable<std::optional<connect_fault>> open_stream(timed_stream& stream, const stream_endpoint& to,
                                                         const session_maker& make_session);

// --- Connections to a host by name or address, for clients that need one at a time.

/// Looks a name up, unless it is an address. @return at least one endpoint, or the error as a sentence.
net::awaitable<result<std::vector<stream_endpoint>, std::string>> endpoints_of(
    net::io_context& io, std::string host, std::uint16_t port, std::chrono::steady_clock::time_point limit);

/// Opens the first endpoint that accepts; each has an equal part of the time left.
/// @param stream set to the open stream, or to nothing. @param make_session see open_stream(). References must outlive
/// it. @return the error as a sentence; empty if connected.
net::awaitable<std::string> open_first(net::io_context& io, std::vector<stream_endpoint> endpoints,
                                       const session_maker& make_session, std::chrono::steady_clock::time_point limit,
                                       std::optional<timed_stream>& stream);

}  // namespace seriesgate
