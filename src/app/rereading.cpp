#include "app/rereading.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "log/log.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

constexpr std::chrono::seconds rereading_interval{1};

void check(const file_check& one, const file_look& look) noexcept {
    try {
        one(look);
    } catch (const std::exception& error) {  // out of memory: looked at again in a second
        log::error("files not looked at", {{"err", error.what()}});
    }
}

}  // namespace

net::awaitable<void> rereading::run(std::vector<file_check> checks) {
    const auto asked = std::make_shared<async_event>(co_await net::this_coro::executor);
    *waits_.lock() = asked;
    for (;;) {
        const file_look look{.are_whole = is_asked_.exchange(false)};
        for (const file_check& each : checks) check(each, look);
        co_await asked->wait_until(monotonic_clock::now() + rereading_interval);
    }
}

void rereading::ask() {
    is_asked_ = true;
    if (const auto run = waits_.lock()->lock()) run->notify();
}

}  // namespace seriesgate
