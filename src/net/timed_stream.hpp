/// A connection that does nothing without a time limit: TCP or a unix socket, plain or with TLS over it.
#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/append.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "net/asio.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"
#include "net/timed_socket.hpp"
#include "net/tls_session.hpp"

namespace seriesgate {

// --- A tls_session over a timed_socket: what a timed_stream with TLS does.

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

/// Time limits are as timed_socket has them, for every operation, with TLS or without. Models AsyncReadStream and
/// AsyncWriteStream, and is moved only while nothing is pending. Plain operations allocate nothing beyond what Asio
/// does; TLS is one test away from them.
///
/// A read that ends with net::error::eof means that the peer has said so; where TLS is cut off, tls_error::truncated
/// tells. Threads: the executor's. The stream must outlive its operations.
class timed_stream {
    // Shared with TLS, and for the timer's handler to see whether it is still there.
    std::shared_ptr<timed_socket> socket_;
    std::unique_ptr<tls_layer> tls_;

  public:
    using executor_type = timed_socket::executor_type;
    using clock = timed_socket::clock;

    /// If memory runs out, the socket is still the caller's.
    /// @param tls what start_tls() takes, or a session that another thread's stream has begun.
    explicit timed_stream(stream_socket&& socket, std::unique_ptr<tls_session> tls = {}) {
        auto layer = tls ? std::make_unique<tls_layer>(std::move(tls)) : nullptr;
        socket_ = std::make_shared<timed_socket>(std::move(socket));
        if (layer) layer->attach(socket_);
        tls_ = std::move(layer);
    }

    executor_type get_executor() noexcept { return socket_->get_executor(); }

    /// From now on, in place of what was set before.
    void expires_after(clock::duration limit) { expires_at(clock::now() + limit); }
    void expires_at(clock::time_point limit) { socket_->expires_at(limit); }
    /// Makes the limit that is set an earlier one, never a later one.
    void expires_by(clock::time_point limit) { expires_at(std::min(limit, socket_->limit())); }
    [[nodiscard]] bool expired() const noexcept { return socket_->expired(); }
    /// As if no limit had ever been given: for who keeps it while nobody uses it.
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

    /// Puts TLS over the connection: from now on only async_handshake, until that has succeeded.
    void start_tls(std::unique_ptr<tls_session> session) {
        assert(!tls_);
        tls_ = std::make_unique<tls_layer>(std::move(session));
        tls_->attach(socket_);
    }
    [[nodiscard]] bool has_tls() const noexcept { return tls_ != nullptr; }
    /// Nothing for a plain one.
    [[nodiscard]] const tls_session* tls() const noexcept { return tls_ ? &tls_->session() : nullptr; }

    /// Ends with tls_error::failed where tls()->failure() says why.
    template <class Token>
    auto async_handshake(Token&& token) {
        return net::async_initiate<Token, void(error_code)>(
            [this](auto handler) { tls_->handshake(erased_without_count(std::move(handler))); }, token);
    }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return net::async_initiate<Token, void(error_code, std::size_t)>(
            [this](auto handler, const Buffers& into) {
                if (tls_) [[unlikely]]
                    return tls_->read_some(first_of<net::mutable_buffer>(into), erased(std::move(handler)));
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

    /// Reads or writes what needs no wait, and no turn of the event loop: half of what a small operation costs.
    /// @param error net::error::would_block where an asynchronous operation has to follow; always with TLS.
    /// @return how many bytes
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

    /// Nothing more will be sent: the peer is told so. With TLS it is also waited for to say the same.
    template <class Token>
    auto async_shutdown(Token&& token) {
        return net::async_initiate<Token, void(error_code)>(
            [this](auto handler) {
                if (tls_) return tls_->shutdown(erased_without_count(std::move(handler)));
                shutdown_send();
                net::post(get_executor(), net::append(std::move(handler), error_code{}));
            },
            token);
    }

    void no_delay() noexcept { set_no_delay(socket_->socket()); }
    /// Nothing more will be sent: the peer sees the end.
    void shutdown_send() noexcept {
        if (tls_) tls_->close_send();
        socket_->socket().shutdown_sending();
    }
    /// Ends whatever is pending with net::error::operation_aborted. What has not been read is still there.
    void cancel() noexcept { socket_->socket().cancel_pending(); }
    /// Ends whatever is pending.
    void close() noexcept { socket_->socket().close_quietly(); }

    /// Null outside of tests, see stream_socket.
    [[nodiscard]] transport* virtual_end() noexcept { return socket_->socket().virtual_end(); }

    /// Where the peer is; nowhere if it has gone.
    [[nodiscard]] stream_endpoint peer() const noexcept { return socket_->socket().peer(); }

    /// What is left of a stream, for another thread to make one of.
    struct released {
        stream_socket socket;
        std::unique_ptr<tls_session> tls;
    };
    /// Gives up socket and TLS. Nothing may be pending; the stream is done for.
    [[nodiscard]] released release() && {
        const auto layer = std::move(tls_);
        const auto ended = std::move(socket_);
        return {ended->release(), layer ? layer->release() : nullptr};
    }

    /// Whether some of what was written last has surely not been confirmed by the peer's host. Also tells after the
    /// connection has broken, until it is closed. What TLS has said of its own accord since nobody can tell from it, so
    /// then: no. After the peer's end it means that nobody there has read all; after a reset it means nothing, for
    /// confirmations are put off.
    [[nodiscard]] bool has_unconfirmed() const noexcept {
        return !(tls_ && tls_->has_spoken()) && socket_->socket().has_unconfirmed();
    }

    /// Open, and nothing has come that was not read, not even the peer's end.
    [[nodiscard]] bool is_quiet() { return tls_ ? tls_->is_quiet() : socket_->socket().is_quiet(); }
    /// The peer has said that it sends no more, or has gone, whatever of it has not been read yet.
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

    template <class Handler>
    erased_handler erased_without_count(Handler handler) {
        return {std::move(handler), get_executor(), erased_handler::no_count{}};
    }

    /// TLS reads into one piece at a time.
    template <class Buffer, class Buffers>
    static Buffer first_of(const Buffers& buffers) {
        return stream_socket::first_of<Buffer>(buffers);
    }

    /// A header's many small pieces make one record.
    template <class Buffers>
    void write_record(const Buffers& from, erased_handler handler) {
        const net::const_buffer first = net::buffer(first_of<net::const_buffer>(from), tls_session::record_bytes_max);
        if (first.size() == tls_session::record_bytes_max || first.size() == net::buffer_size(from))
            return tls_->write_some(first, std::move(handler));
        std::array<char, tls_session::record_bytes_max> record;
        tls_->write_some(net::buffer(record, net::buffer_copy(net::buffer(record), from)), std::move(handler));
    }
};

}  // namespace seriesgate
