/// An event loop on a thread of its own, for coroutines that work beside a test.
#pragma once

#include <functional>
#include <utility>

#include "net/event_loop.hpp"

namespace seriesgate::testing {

/// Runs a coroutine from its construction on. Declare it after what the coroutine uses.
class running_loop {
    event_loop loop_;

  public:
    explicit running_loop(std::function<net::awaitable<void>()> make) {
        spawn_lasting(loop_.context(), "a coroutine of the test failed", std::move(make));
        loop_.start(start_thread, "test");
    }
    [[nodiscard]] std::stop_token ending() const noexcept { return loop_.ending(); }
};

/// Answers what is asked for at a desk with what `make` makes of an order. For running_loop.
template <class Desk, class Make>
net::awaitable<void> serve_desk(Desk& asked, Make make) {
    for (;;) {
        const auto order = co_await asked.take();
        order.give(make(order));
    }
}

}  // namespace seriesgate::testing
