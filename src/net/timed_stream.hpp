/// A connection that does nothing without a time limit: TCP or a unix socket, plain or with TLS over it.
#pragma once

#include <algorithm>
#include <boost/asio/append.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "net/asio.hpp"
#include "net/socket.hpp"
#include "net/timed_socket.hpp"
#include "net/tls.hpp"

namespace seriesgate {

/// Time limits are as timed_socket has them, for every operation, with TLS or without. Models AsyncReadStream and
/// AsyncWriteStream, and is moved only while nothing is pending. Plain operations allocate nothing beyond what Asio
/// does; TLS is one test away from them.
///
/// A read that ends with net::error::eof means that the peer has said so; where TLS is cut off, Asio's stream_truncated
/// tells. Threads: the executor's. The stream must outlive its operations.
class timed_stream {
    std::shared_ptr<timed_socket> socket_;  // shared only for the timer's handler to see whether it is still there
    std::unique_ptr<tls_layer> tls_;        // goes before the socket

  public:
    using executor_type = timed_socket::executor_type;
    using clock = timed_socket::clock;

    /// If memory runs out, the socket is still the caller's.
    explicit timed_stream(stream_socket&& socket) : socket_(std::make_shared<timed_socket>(std::move(socket))) {}

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
    /// @param context must outlive the stream.
    /// @param peer_name for a client: whom the server must prove to be.
    void start_tls(tls_context& context, const std::string& peer_name = {}) {
        assert(!tls_);
        tls_ = make_tls_layer(*socket_, context, peer_name);
    }
    [[nodiscard]] bool has_tls() const noexcept { return tls_ != nullptr; }

    template <class Token>
    auto async_handshake(Token&& token) {
        return net::async_initiate<Token, void(error_code)>(
            [this](auto handler) { tls_->handshake(erased(std::move(handler))); }, token);
    }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return net::async_initiate<Token, void(error_code, std::size_t)>(
            [this](auto handler, const Buffers& into) {
                if (tls_) [[unlikely]]
                    return tls_->read_some(first_of(into), erased(std::move(handler)));
                socket_->read_some(into, std::move(handler));
            },
            token, buffers);
    }

    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return net::async_initiate<Token, void(error_code, std::size_t)>(
            [this](auto handler, const Buffers& from) {
                if (tls_) [[unlikely]]
                    return tls_->write_record(net::buffer_copy(tls_->record(), from), erased(std::move(handler)));
                socket_->write_some(from, std::move(handler));
            },
            token, buffers);
    }

    /// Nothing more will be sent: the peer is told so. With TLS it is also waited for to say the same.
    template <class Token>
    auto async_shutdown(Token&& token) {
        return net::async_initiate<Token, void(error_code)>(
            [this](auto handler) {
                if (tls_) return tls_->shutdown(erased(std::move(handler)));
                shutdown_send();
                net::post(get_executor(), net::append(std::move(handler), error_code{}));
            },
            token);
    }

    void no_delay() noexcept { set_no_delay(socket_->socket()); }
    /// Nothing more will be sent: the peer sees the end. To TLS that is to be cut off, see async_shutdown.
    void shutdown_send() noexcept {
        error_code ignored;
        socket_->socket().shutdown(stream_socket::shutdown_send, ignored);
    }
    /// Ends whatever is pending.
    void close() noexcept {
        error_code ignored;
        socket_->socket().close(ignored);
    }

    /// Where the peer is; nowhere if it has gone.
    [[nodiscard]] stream_endpoint peer() const noexcept {
        error_code ignored;
        return socket_->socket().remote_endpoint(ignored);
    }

    /// Gives the socket up, for another thread to make a stream of. Nothing may be pending, and TLS not have begun; the
    /// stream is done for.
    [[nodiscard]] stream_socket release() && {
        assert(!tls_);
        const auto ended = std::move(socket_);
        return ended->release();
    }

    /// Open, and nothing has come that was not read, not even the peer's end.
    [[nodiscard]] bool is_quiet() const noexcept;
    /// The peer has said that it sends no more, or has gone, whatever of it has not been read yet.
    [[nodiscard]] bool peer_has_ended() const noexcept;

  private:
    template <class Handler>
    erased_handler erased(Handler handler) {
        return {std::move(handler), get_executor()};
    }

    /// TLS decrypts into one piece at a time.
    template <class Buffers>
    static net::mutable_buffer first_of(const Buffers& buffers) {
        for (auto each = net::buffer_sequence_begin(buffers); each != net::buffer_sequence_end(buffers); ++each)
            if (each->size() != 0) return *each;
        return {};
    }
};

}  // namespace seriesgate
