#include "app/password_checks.hpp"

#include <memory>

#include "net/async.hpp"

namespace seriesgate {

net::awaitable<void> check_passwords(access_control& access) {
    const auto executor = co_await net::this_coro::executor;
    const auto asked = std::make_shared<async_event>(executor);
    access.when_asked([wakes = std::weak_ptr{asked}] {  // the event goes with its event loop
        if (const auto waits = wakes.lock()) waits->notify();
    });
    async_timer rest{executor};
    for (;;) {
        const auto pause = access.check_next();
        if (!pause) {
            co_await asked->wait();
            continue;
        }
        rest.expires_after(*pause);
        co_await rest.async_wait(no_throw);
    }
}

}  // namespace seriesgate
