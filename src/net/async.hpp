/// Asio's names and completion token, timers on the process' clock, events, values from other threads, type-erased
/// handlers.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.hpp"

/// Asio sleeps until a timer is due; a test's virtual clock may shorten the sleep.
template <>
struct boost::asio::wait_traits<seriesgate::monotonic_clock> {
    using clock = seriesgate::monotonic_clock;

    static clock::duration to_wait_duration(const clock::duration& until) {
        if (const auto* const owned = seriesgate::virtual_clock::installed()) [[unlikely]]
            return owned->wait_for(until);
        return until;
    }
    static clock::duration to_wait_duration(const clock::time_point& at) { return to_wait_duration(at - clock::now()); }
};

namespace seriesgate {

namespace net = boost::asio;
using boost::system::error_code;

/// Completion token: `auto [error, n] = co_await stream.async_read_some(buffer, no_throw);`
/// GCC 12 destroys temporaries of a co_await expression twice: name lambdas, aggregates and `?:` results before it.
inline constexpr auto no_throw = net::as_tuple(net::use_awaitable);

// --- Timers.

/// The timer of all coroutines in this process.
using async_timer = net::basic_waitable_timer<monotonic_clock>;

/// Waits until a moment. Nothing ends the wait early: who must be woken has an async_event, or a timer of its own.
inline net::awaitable<void> sleep_until(monotonic_clock::time_point moment) {
    const auto where = co_await net::this_coro::executor;
    async_timer timer{where, moment};
    co_await timer.async_wait(no_throw);
}
inline net::awaitable<void> sleep_for(monotonic_clock::duration time) {
    return sleep_until(monotonic_clock::now() + time);
}

// --- Events.

/// Wakes one waiting coroutine from any thread. A notification without a waiter ends the next wait at once. A wait may
/// end without a notification, so the coroutine checks its condition again. The event must be destroyed before its
/// event loop: the waiting coroutine owns it, and others hold a std::weak_ptr.
class async_event : public std::enable_shared_from_this<async_event> {
    net::any_io_executor loop_;
    async_timer timer_;
    std::atomic<bool> notified_{false};

  public:
    /// For std::make_shared: a pending notification keeps it alive.
    explicit async_event(net::any_io_executor loop) : loop_(std::move(loop)), timer_(loop_) {}

    /// Does nothing when memory runs out; the coroutine then checks when its wait ends. Threads: any.
    void notify() noexcept {
        if (notified_.exchange(true)) return;
        try {
            net::post(loop_, [self = shared_from_this()] { self->timer_.cancel(); });
        } catch (const std::exception&) {
            notified_ = false;
        }
    }

    /// Waits for a notification, or until `limit`. Threads: the loop's.
    net::awaitable<void> wait_until(monotonic_clock::time_point limit) {
        timer_.expires_at(limit);
        // notify() cancels through the loop, so only after the wait has begun.
        if (!notified_.load()) co_await timer_.async_wait(no_throw);
        notified_ = false;
    }
    /// Waits for at most a second, since a notification may have found no memory.
    net::awaitable<void> wait() { return wait_until(monotonic_clock::now() + std::chrono::seconds{1}); }
};

// --- Values from another thread.

/// A coroutine creates it and waits, on its worker's thread. Another thread gives the value, once or never.
template <class T>
class awaited {
    struct state {
        async_timer clock;
        std::optional<T> value;
    };

    net::io_context* io_;
    std::shared_ptr<state> state_;

  public:
    /// Gives the value; does nothing if the waiter is gone. Threads: any, one at a time. The io_context must outlive
    /// the call: join the giving threads first.
    class giver {
        net::io_context* io_;
        std::weak_ptr<state> state_;

      public:
        giver(net::io_context* io, std::weak_ptr<state> to) : io_(io), state_(std::move(to)) {}

        void operator()(T value) const {
            auto waiting = state_.lock();
            if (!waiting) return;
            net::post(*io_, [waiting = std::move(waiting), value = std::move(value)]() mutable {
                waiting->value = std::move(value);
                waiting->clock.cancel();
            });
        }
    };

    explicit awaited(net::io_context& io)
        : io_(&io), state_(std::make_shared<state>(state{async_timer{io}, std::nullopt})) {}

    [[nodiscard]] giver to_give() const { return {io_, state_}; }

    net::awaitable<std::optional<T>> wait(std::chrono::steady_clock::duration limit) {
        // The value comes through the io_context, so never between these two lines.
        state_->clock.expires_after(limit);
        if (!state_->value) co_await state_->clock.async_wait(no_throw);
        co_return std::move(state_->value);
    }
};

/// A completion handler with its type erased, so that its callers compile separately; Asio has one from 1.82 on. Takes
/// an error, and a byte count where the operation has one. Called once, or never. Copies share the handler, so a caller
/// can keep one while it starts an operation that may throw. Threads: the handler's executor.
class erased_handler {
    struct held {
        virtual ~held() = default;
        virtual void complete(error_code error, std::size_t bytes) = 0;
    };

    // A handler that takes any arguments, such as as_tuple's, cannot be asked for its signature.
    template <class Handler, bool has_count>
    struct held_as final : held {
        Handler handler;
        net::any_io_executor otherwise;

        held_as(Handler given, net::any_io_executor executor)
            : handler(std::move(given)), otherwise(std::move(executor)) {}
        void complete(error_code error, std::size_t bytes) override {
            const auto where = net::get_associated_executor(handler, otherwise);
            if constexpr (has_count)
                net::dispatch(where, net::append(std::move(handler), error, bytes));
            else
                net::dispatch(where, net::append(std::move(handler), error));
        }
    };

    std::shared_ptr<held> held_;

  public:
    /// @param executor for a handler without an executor of its own.
    template <class Handler>
    erased_handler(Handler handler, net::any_io_executor executor)
        : held_(std::make_shared<held_as<Handler, true>>(std::move(handler), std::move(executor))) {}

    struct no_count {};
    template <class Handler>
    erased_handler(Handler handler, net::any_io_executor executor, no_count)
        : held_(std::make_shared<held_as<Handler, false>>(std::move(handler), std::move(executor))) {}

    void operator()(error_code error, std::size_t bytes) {
        const std::shared_ptr<held> called = std::move(held_);
        called->complete(error, bytes);
    }
};

}  // namespace seriesgate
