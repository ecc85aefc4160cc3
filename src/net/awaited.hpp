/// A value that another thread makes while a coroutine waits for it.
#pragma once

#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "net/asio.hpp"
#include "net/async_timer.hpp"

namespace seriesgate {

/// Made and waited for by one coroutine on its worker's thread; given once, or never, from any other.
template <class T>
class awaited {
    /// Touched by the worker's thread alone.
    struct state {
        async_timer clock;
        std::optional<T> value;
    };

    net::io_context* io_;
    std::shared_ptr<state> state_;

  public:
    /// The way for the value. Does nothing if nobody waits any more. Threads: any, one at a time.
    /// The io_context must not go while values are being given: join those threads first.
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

    /// @return nothing if it has not come in time.
    net::awaitable<std::optional<T>> wait(std::chrono::steady_clock::duration limit) {
        // The value comes through the io_context, so not between these two lines.
        state_->clock.expires_after(limit);
        if (!state_->value) co_await state_->clock.async_wait(no_throw);
        co_return std::move(state_->value);
    }
};

}  // namespace seriesgate
