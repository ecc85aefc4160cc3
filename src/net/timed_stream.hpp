/// A TCP connection that does nothing without a time limit.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/append.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/error.hpp>
#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "net/asio.hpp"

namespace seriesgate {

/// Owns a socket and the time limit of whatever it does; there is no other way to wait for that socket. Once the limit
/// has passed, every operation ends with beast::error::timeout: a pending one is cancelled, a later one fails at once,
/// however many small ones succeeded before and whether or not one was pending at that moment. Only a new limit ends
/// that. A stream that was never given one counts as expired.
///
/// Unlike Beast's tcp_stream it does not close the socket, so the peer can still be told. Models AsyncReadStream and
/// AsyncWriteStream. Threads: the executor's. The stream must outlive its operations.
class timed_stream {
  public:
    using executor_type = tcp::socket::executor_type;
    using clock = std::chrono::steady_clock;

  private:
    struct state {
        tcp::socket socket;
        net::steady_timer timer;
        clock::time_point limit = clock::time_point::min();
        clock::time_point wakes = clock::time_point::max();  ///< when the timer looks at the limit

        explicit state(tcp::socket&& owned) : socket(std::move(owned)), timer(socket.get_executor()) {}
        [[nodiscard]] bool expired() const noexcept { return clock::now() >= limit; }
    };
    std::shared_ptr<state> state_;  // shared only for the timer's handler to see whether the stream is still there

  public:
    /// What a pending operation's handler is wrapped in, for it to be told why it was cancelled.
    template <class Handler>
    struct told_of_limit {
        const state* of;
        Handler handler;

        template <class... Results>
        void operator()(error_code error, Results... results) {
            if (error == net::error::operation_aborted && of->expired()) error = boost::beast::error::timeout;
            std::move(handler)(error, results...);
        }
    };

    /// If memory runs out, the socket is still the caller's.
    explicit timed_stream(tcp::socket&& socket) : state_(std::make_shared<state>(std::move(socket))) {}

    executor_type get_executor() noexcept { return state_->socket.get_executor(); }

    /// From now on, in place of what was set before.
    void expires_after(clock::duration limit) { expires_at(clock::now() + limit); }
    void expires_at(clock::time_point limit) {
        state_->limit = limit;
        if (limit < state_->wakes) wake_at_limit(state_);  // a later limit is looked at when the timer wakes
    }
    /// Makes the limit that is set an earlier one, never a later one.
    void expires_by(clock::time_point limit) { expires_at(std::min(limit, state_->limit)); }
    [[nodiscard]] bool expired() const noexcept { return state_->expired(); }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return net::async_initiate<Token, void(error_code, std::size_t)>(
            [this](auto handler, const Buffers& into) {
                if (expired()) return fail(std::move(handler), std::size_t{0});
                state_->socket.async_read_some(into, told(std::move(handler)));
            },
            token, buffers);
    }

    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return net::async_initiate<Token, void(error_code, std::size_t)>(
            [this](auto handler, const Buffers& from) {
                if (expired()) return fail(std::move(handler), std::size_t{0});
                state_->socket.async_write_some(from, told(std::move(handler)));
            },
            token, buffers);
    }

    template <class Token>
    auto async_connect(const tcp::endpoint& endpoint, Token&& token) {
        return net::async_initiate<Token, void(error_code)>(
            [this](auto handler, const tcp::endpoint& to) {
                if (expired()) return fail(std::move(handler));
                state_->socket.async_connect(to, told(std::move(handler)));
            },
            token, endpoint);
    }

    void no_delay() noexcept {
        error_code ignored;
        state_->socket.set_option(tcp::no_delay{true}, ignored);
    }
    /// Nothing more will be sent: the peer sees the end.
    void shutdown_send() noexcept {
        error_code ignored;
        state_->socket.shutdown(tcp::socket::shutdown_send, ignored);
    }
    /// Ends whatever is pending.
    void close() noexcept {
        error_code ignored;
        state_->socket.close(ignored);
    }

    /// Where the peer is; nowhere if it has gone.
    [[nodiscard]] tcp::endpoint peer() const noexcept {
        error_code ignored;
        return state_->socket.remote_endpoint(ignored);
    }

    /// Gives the socket up, for another thread to make a stream of. Nothing may be pending; the stream is done for.
    [[nodiscard]] tcp::socket release() && {
        const auto ended = std::move(state_);
        return std::move(ended->socket);
    }

    /// Open, and nothing has come that was not read, not even the peer's end.
    [[nodiscard]] bool is_quiet() const noexcept {
        char byte = 0;
        return ::recv(state_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
               (errno == EAGAIN || errno == EWOULDBLOCK);
    }

  private:
    template <class Handler>
    told_of_limit<Handler> told(Handler handler) {
        return {state_.get(), std::move(handler)};
    }

    template <class Handler, class... Results>
    void fail(Handler handler, Results... results) {
        const error_code timeout = boost::beast::error::timeout;
        net::post(state_->socket.get_executor(), net::append(std::move(handler), timeout, results...));
    }

    /// The timer is set anew only when it would come too late: limits mostly grow, and most are never reached.
    static void wake_at_limit(const std::shared_ptr<state>& of) {
        of->wakes = of->limit;
        of->timer.expires_at(of->limit);  // cancels the wait before
        of->timer.async_wait([watched = std::weak_ptr{of}](error_code error) {
            const auto stream = watched.lock();
            if (error || !stream) return;
            stream->wakes = clock::time_point::max();
            if (!stream->expired()) return wake_at_limit(stream);
            error_code ignored;
            stream->socket.cancel(ignored);
        });
    }
};

}  // namespace seriesgate

/// Executor, allocator and cancellation slot are those of the handler within.
template <template <class, class> class Associator, class Handler, class Default>
struct boost::asio::associator<Associator, seriesgate::timed_stream::told_of_limit<Handler>, Default>
    : Associator<Handler, Default> {
    using told = seriesgate::timed_stream::told_of_limit<Handler>;

    static typename Associator<Handler, Default>::type get(const told& from) noexcept {
        return Associator<Handler, Default>::get(from.handler);
    }
    static decltype(auto) get(const told& from, const Default& otherwise) noexcept {
        return Associator<Handler, Default>::get(from.handler, otherwise);
    }
};
