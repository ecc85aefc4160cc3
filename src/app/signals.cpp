#include "app/signals.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <memory>

#include "log/log.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto drain_poll_interval = 5ms;
/// What senders get while we drain to finish sending, or reading, what they are at; at most half of the drain.
constexpr std::chrono::nanoseconds drain_sender_grace = 3s;

/// Slow senders are not waited for as long as usual from here on.
void hurry_senders(worker& of, std::chrono::nanoseconds grace) {
    net::post(of.io, [&senders = of.senders, grace] { senders.hurry(grace); });
}

/// Waits until nothing is being worked on, but no longer than that, and not if another signal comes.
net::awaitable<void> wait_for_idle(net::signal_set& signals, const gauge& working, const gauge& copies,
                                   std::chrono::nanoseconds limit) {
    const auto impatient = std::make_shared<bool>(false);
    signals.async_wait([impatient](error_code failed, int) { *impatient = !failed; });
    const auto end = std::chrono::steady_clock::now() + limit;
    net::steady_timer timer{co_await net::this_coro::executor};
    const auto is_idle = [&] { return working.value() == 0 && copies.value() == 0; };
    while (!is_idle() && !*impatient && std::chrono::steady_clock::now() < end) {
        timer.expires_after(drain_poll_interval);
        co_await timer.async_wait(no_throw);
    }
}

}  // namespace

net::awaitable<void> drain_on_signal(net::signal_set& signals, server& senders, serving_thread& front_desk,
                                     const worker_threads& workers, const shared_stores& stores) {
    http_shared& shared = front_desk.self.shared;
    auto [error, signal] = co_await signals.async_wait(no_throw);
    if (error) co_return;
    log::info("draining", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    shared.life.drain();
    senders.close();  // who asks for readiness at admin.listen is told that it is over
    const std::chrono::nanoseconds drain_timeout = shared.settings.drain_timeout;
    const auto grace = std::min(drain_sender_grace, drain_timeout / 2);
    hurry_senders(front_desk.self, grace);
    for (const auto& each : workers) hurry_senders(each->self, grace);

    const gauge& working = shared.metrics.inflight_requests;
    const gauge& copies = stores.copies;
    co_await wait_for_idle(signals, working, copies, drain_timeout);
    if (working.value() != 0)
        log::warn("requests not finished, their senders will try again", {{"requests", working.value()}});
    if (copies.value() != 0)
        log::warn("copies for replicas not finished, what is in them is lost", {{"requests", copies.value()}});
    front_desk.self.io.stop();
}

net::awaitable<void> reload_on_signal(net::signal_set& signals, admin_shared& admin) {
    for (;;) {
        auto [error, signal] = co_await signals.async_wait(no_throw);
        if (error) co_return;
        admin.reload.requests.add();
        admin.reloads.ask({});
    }
}

}  // namespace seriesgate
