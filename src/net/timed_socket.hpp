/// A socket whose operations all have a time limit; the base of timed_stream.
#pragma once

#include <boost/asio/append.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/error.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"

namespace seriesgate {

// --- Usage checks, only in builds with assertions.

/// Operations of one kind must not overlap; a read and a write may.
enum class operation : std::uint8_t { read, write };

#ifdef NDEBUG

struct usage_check {
    void begin(operation) noexcept {}
    void end(operation) noexcept {}
    void require_idle() const noexcept {}
};

#else

/// All operations must begin and end on the thread of the first one.
class usage_check {
    bool pending_[2] = {};
    std::thread::id thread_{};

  public:
    void begin(operation kind) noexcept {
        if (thread_ == std::thread::id{}) thread_ = std::this_thread::get_id();
        assert(thread_ == std::this_thread::get_id());
        assert(!pending(kind));
        pending(kind) = true;
    }
    void end(operation kind) noexcept {
        assert(thread_ == std::this_thread::get_id());
        assert(pending(kind));
        pending(kind) = false;
    }
    void require_idle() const noexcept { assert(!pending_[0] && !pending_[1]); }

  private:
    bool& pending(operation kind) noexcept { return pending_[static_cast<int>(kind)]; }
};

#endif

/// Owns a socket and its time limit; no operation can wait longer. After the limit every operation ends with
/// beast::error::timeout: a pending one is cancelled, a later one fails at once. Only a new limit ends that. A socket
/// without a limit counts as expired.
///
/// Unlike Beast's tcp_stream it does not close the socket, so the gate can still answer the peer. Operations take
/// handlers; timed_stream adds completion tokens. Threads: the executor's. Must outlive its operations.
class timed_socket : public std::enable_shared_from_this<timed_socket> {
  public:
    using executor_type = stream_socket::executor_type;
    using clock = monotonic_clock;

  private:
    static constexpr unsigned in_a_row_max = 16;

    stream_socket socket_;
    async_timer timer_;
    clock::time_point limit_ = clock::time_point::min();
    clock::time_point wakes_ = clock::time_point::max();  // next check of the limit
    unsigned in_a_row_ = 0;                               // operations without a wait, since the last wait
    [[no_unique_address]] usage_check usage_;

  public:
    /// Wraps a pending operation's handler: turns its cancellation into a timeout once the limit has passed.
    template <class Handler, operation Kind>
    struct limited_handler {
        timed_socket* of;
        Handler handler;

        template <class... Results>
        void operator()(error_code error, Results... results) {
            of->usage_.end(Kind);
            if (error == net::error::operation_aborted && of->expired()) error = boost::beast::error::timeout;
            std::move(handler)(error, results...);
        }
    };

    /// For std::make_shared: the timer's handler holds a weak_ptr. If memory runs out, the caller still has the socket.
    explicit timed_socket(stream_socket&& socket) : socket_(std::move(socket)), timer_(socket_.get_executor()) {}
    timed_socket(const timed_socket&) = delete;
    timed_socket& operator=(const timed_socket&) = delete;

    executor_type get_executor() noexcept { return socket_.get_executor(); }
    stream_socket& socket() noexcept { return socket_; }
    const stream_socket& socket() const noexcept { return socket_; }

    void expires_at(clock::time_point limit) {
        limit_ = limit;
        if (limit < wakes_) wake_at_limit();  // the timer itself checks a later limit
    }
    /// Back to no limit. Nothing may be pending.
    void forget_limit() noexcept {
        usage_.require_idle();
        limit_ = clock::time_point::min();
    }
    [[nodiscard]] clock::time_point limit() const noexcept { return limit_; }
    [[nodiscard]] bool expired() const noexcept { return clock::now() >= limit_; }

    /// Reads or writes what is possible without waiting.
    /// @param error net::error::would_block if nothing has come, there is no room, or in_a_row_max operations in a row
    /// have not waited: others of this thread then get their turn.
    /// @return number of bytes
    template <class Buffers>
    std::size_t read_now(const Buffers& into, error_code& error) {
        return now<operation::read>(error, [&] { return socket_.read_at_once(into, error); });
    }
    template <class Buffers>
    std::size_t write_now(const Buffers& from, error_code& error) {
        return now<operation::write>(error, [&] { return socket_.write_at_once(from, error); });
    }

    template <class Buffers, class Handler>
    void read_some(const Buffers& into, Handler handler) {
        if (expired()) return fail(std::move(handler), std::size_t{0});
        begin<operation::read>([&] {
            if (transport* const end = socket_.virtual_end()) [[unlikely]]
                return end->read_some(stream_socket::first_of<net::mutable_buffer>(into),
                                      counting<operation::read>(std::move(handler)));
            socket_.async_read_some(into, with_limit<operation::read>(std::move(handler)));
        });
    }
    template <class Buffers, class Handler>
    void write_some(const Buffers& from, Handler handler) {
        if (expired()) return fail(std::move(handler), std::size_t{0});
        begin<operation::write>([&] {
            if (transport* const end = socket_.virtual_end()) [[unlikely]]
                return end->write_some(stream_socket::whole(from), counting<operation::write>(std::move(handler)));
            socket_.async_write_some(from, with_limit<operation::write>(std::move(handler)));
        });
    }
    /// Waits until there is data to read, or the peer's end.
    template <class Handler>
    void wait_readable(Handler handler) {
        if (expired()) return fail(std::move(handler));
        begin<operation::read>([&] {
            if (transport* const end = socket_.virtual_end()) [[unlikely]]
                return end->wait_readable(without_count<operation::read>(std::move(handler)));
            socket_.async_wait(stream_socket::wait_read, with_limit<operation::read>(std::move(handler)));
        });
    }
    template <class Handler>
    void connect(const stream_endpoint& to, Handler handler) {
        if (expired()) return fail(std::move(handler));
        begin<operation::write>([&] {
            if (transport* const end = socket_.virtual_end()) [[unlikely]]
                return end->connect(to, without_count<operation::write>(std::move(handler)));
            socket_.async_connect(to, with_limit<operation::write>(std::move(handler)));
        });
    }

    /// Posts a timeout for an operation that starts after the limit.
    template <class Handler, class... Results>
    void fail(Handler handler, Results... results) {
        const error_code timeout = boost::beast::error::timeout;
        net::post(socket_.get_executor(), net::append(std::move(handler), timeout, results...));
    }

    /// Gives up the socket. Nothing may be pending.
    [[nodiscard]] stream_socket release() {
        usage_.require_idle();
        return std::move(socket_);
    }

  private:
    template <operation Kind, class Handler>
    limited_handler<Handler, Kind> with_limit(Handler handler) {
        return {this, std::move(handler)};
    }

    /// The same for the virtual network of a test.
    template <operation Kind, class Handler>
    erased_handler counting(Handler handler) {
        return {with_limit<Kind>(std::move(handler)), get_executor()};
    }
    template <operation Kind, class Handler>
    erased_handler without_count(Handler handler) {
        return {with_limit<Kind>(std::move(handler)), get_executor(), erased_handler::no_count{}};
    }

    template <operation Kind, class Perform>
    std::size_t now(error_code& error, Perform perform) {
        error = {};
        if (expired()) error = boost::beast::error::timeout;
        if (in_a_row_ == in_a_row_max) error = net::error::would_block;
        if (error) return 0;
        ++in_a_row_;
        usage_.begin(Kind);
        const std::size_t bytes = perform();
        usage_.end(Kind);
        return bytes;
    }

    /// Without memory the operation does not start. Its handler is then destroyed, but not our owner: Asio unwinds a
    /// coroutine later, and other handlers own nothing or are kept.
    template <operation Kind, class Start>
    void begin(Start start) {
        in_a_row_ = 0;
        usage_.begin(Kind);
        try {
            start();
        } catch (...) {
            usage_.end(Kind);
            throw;
        }
    }

    /// Runs when the timer fires. If memory for a new timer is missing, it ends pending operations, since nothing else
    /// would.
    void wake() noexcept {
        wakes_ = clock::time_point::max();
        try {
            if (!expired()) return wake_at_limit();
        } catch (const std::bad_alloc&) {
        }
        socket_.cancel_pending();
    }

    /// Restarts the timer only for an earlier limit: limits mostly grow, and most are never reached.
    void wake_at_limit() {
        wakes_ = clock::time_point::max();  // if memory runs out below, the next limit tries again
        timer_.expires_at(limit_);          // cancels the previous wait
        timer_.async_wait([watched = weak_from_this()](error_code error) {
            if (const auto of = watched.lock(); of && !error) of->wake();
        });
        wakes_ = limit_;
    }
};

}  // namespace seriesgate

/// Forwards executor, allocator and cancellation slot of the inner handler.
template <template <class, class> class Associator, class Handler, seriesgate::operation Kind, class Default>
struct boost::asio::associator<Associator, seriesgate::timed_socket::limited_handler<Handler, Kind>, Default>
    : Associator<Handler, Default> {
    using with_limit = seriesgate::timed_socket::limited_handler<Handler, Kind>;

    static typename Associator<Handler, Default>::type get(const with_limit& from) noexcept {
        return Associator<Handler, Default>::get(from.handler);
    }
    static decltype(auto) get(const with_limit& from, const Default& otherwise) noexcept {
        return Associator<Handler, Default>::get(from.handler, otherwise);
    }
};
