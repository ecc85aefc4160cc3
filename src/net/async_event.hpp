/// Wakes a coroutine from any thread.
#pragma once

#include <atomic>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <memory>

#include "net/asio.hpp"
#include "net/async_timer.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// One coroutine waits, any thread notifies. A notification that comes while nobody waits ends the next wait at once.
/// A wait may end without one, so the coroutine looks again at what it waits for. The event must go before its event
/// loop: the waiting coroutine owns it, and others have a std::weak_ptr.
class async_event : public std::enable_shared_from_this<async_event> {
    net::any_io_executor loop_;
    async_timer timer_;
    std::atomic<bool> notified_{false};

  public:
    /// For std::make_shared: a notification on its way keeps it alive.
    explicit async_event(net::any_io_executor loop) : loop_(std::move(loop)), timer_(loop_) {}
    async_event(const async_event&) = delete;
    async_event& operator=(const async_event&) = delete;

    /// Without memory it does nothing; the coroutine then looks when its wait ends. Threads: any.
    void notify() noexcept {
        if (notified_.exchange(true)) return;
        try {
            net::post(loop_, [self = shared_from_this()] { self->timer_.cancel(); });
        } catch (const std::exception&) {
            notified_ = false;
        }
    }

    /// Waits for a notification, or until then. Threads: the loop's.
    net::awaitable<void> wait_until(monotonic_clock::time_point limit) {
        timer_.expires_at(limit);
        // notify() cancels through the loop, so after the wait has begun.
        if (!notified_.load()) co_await timer_.async_wait(no_throw);
        notified_ = false;
    }
    /// The same, or for a second: a notification may have found no memory.
    net::awaitable<void> wait() { return wait_until(monotonic_clock::now() + std::chrono::seconds{1}); }
};

}  // namespace seriesgate
