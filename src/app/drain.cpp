#include "app/signals.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <csignal>
#include <memory>

#include "log/log.hpp"
#include "net/async_timer.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto drain_poll_interval = 5ms;
/// What senders get while we drain to finish sending, or reading, what they are at; at most half of the drain.
constexpr std::chrono::nanoseconds drain_sender_grace = 3s;
/// Who connects sends its request at once. Others have connected to see whether somebody listens.
constexpr std::chrono::nanoseconds unasked_grace = 1s;

/// Slow senders are not waited for as long as usual from here on.
void hurry_senders(worker& of, std::chrono::nanoseconds grace) {
    net::post(of.io, [&senders = of.senders, grace] { senders.hurry(grace); });
}

/// What there is to wait for.
struct drain {
    server& senders;
    const gauge& working;  ///< requests
    const gauge& copies;   ///< for replicas
    std::chrono::steady_clock::time_point began = monotonic_clock::now();
    std::chrono::nanoseconds patience;  ///< with those who have connected and have not asked anything yet

    /// Who has been accepted is answered; where another process accepts from the same socket, nobody is refused then.
    [[nodiscard]] bool is_over() const {
        const auto unfinished = senders.connections().count_unfinished();
        const bool is_patient = monotonic_clock::now() < began + patience;
        return !senders.entry().accepts() && working.value() == 0 && copies.value() == 0 && unfinished.busy == 0 &&
               (unfinished.unasked == 0 || !is_patient);
    }
};

/// Waits until nothing is being worked on, but no longer than that, and not if another signal comes.
net::awaitable<void> wait_for_end(net::signal_set& signals, const drain& of, std::chrono::nanoseconds limit) {
    const auto impatient = std::make_shared<bool>(false);
    signals.async_wait([impatient](error_code failed, int) { *impatient = !failed; });
    const auto end = monotonic_clock::now() + limit;
    async_timer timer{co_await net::this_coro::executor};
    while (!of.is_over() && !*impatient && monotonic_clock::now() < end) {
        timer.expires_after(drain_poll_interval);
        co_await timer.async_wait(no_throw);
    }
}

}  // namespace

std::chrono::nanoseconds sender_grace(std::chrono::nanoseconds drain_timeout) noexcept {
    return std::min(drain_sender_grace, drain_timeout / 2);
}

net::awaitable<void> drain_on_signal(net::signal_set& signals, server& senders, serving_thread& front_desk,
                                     const worker_threads& workers, const shared_stores& stores,
                                     std::function<void()> begins) {
    http_shared& shared = front_desk.self.shared;
    auto [error, signal] = co_await signals.async_wait(no_throw);
    if (error) co_return;
    log::info("draining", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    begins();
    shared.life.drain();
    senders.close();  // who asks for readiness at admin.listen is told that it is over
    const std::chrono::nanoseconds drain_timeout = shared.settings.drain_timeout;
    const auto grace = sender_grace(drain_timeout);
    hurry_senders(front_desk.self, grace);
    for (const auto& each : workers) hurry_senders(each->self, grace);

    const gauge& working = shared.metrics.inflight_requests;
    const gauge& copies = stores.copies;
    const drain unfinished{
        .senders = senders, .working = working, .copies = copies, .patience = std::min(unasked_grace, grace)};
    co_await wait_for_end(signals, unfinished, drain_timeout);
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
