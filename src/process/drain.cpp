#include "process/drain.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <csignal>
#include <memory>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto drain_poll_interval = 5ms;
/// What senders get while we drain to finish sending, or reading, what they are at; at most half of the drain.
constexpr std::chrono::nanoseconds drain_sender_grace = 3s;
/// Who connects sends its request at once. Others have connected to see whether somebody listens.
constexpr std::chrono::nanoseconds unasked_grace = 1s;

/// Slow senders are not waited for as long as usual from here on.
void shorten_sender_timeouts(worker& of, std::chrono::nanoseconds grace) {
    net::post(of.io, [&senders = of.senders, grace] { senders.shorten_timeouts(grace); });
}

/// What there is to wait for.
struct unfinished_work {
    server& senders;
    const gauge& working;  ///< requests
    const gauge& copies;   ///< for replicas
    monotonic_clock::time_point began = monotonic_clock::now();
    std::chrono::nanoseconds patience;  ///< with those who have connected and have not asked anything yet

    /// Who has been accepted is answered; where another process accepts from the same socket, nobody is refused then.
    [[nodiscard]] bool is_over() const {
        const auto unfinished = senders.connections().count_unfinished();
        const bool is_patient = monotonic_clock::now() < began + patience;
        return !senders.entry().accepts() && working.value() == 0 && copies.value() == 0 && unfinished.busy == 0 &&
               (unfinished.unasked == 0 || !is_patient);
    }
};

}  // namespace

std::chrono::nanoseconds sender_grace(std::chrono::nanoseconds drain_timeout) noexcept {
    return std::min(drain_sender_grace, drain_timeout / 2);
}

net::awaitable<void> drain(drained_parts of, std::string_view why, std::function<bool()> is_impatient) {
    http_shared& shared = of.acceptor.self.shared;
    log::info("draining", {{"signal", why}});
    shared.life.drain();
    of.senders.close();  // who asks for readiness at admin.listen is told that it is over
    const std::chrono::nanoseconds drain_timeout = shared.settings.drain_timeout;
    const auto grace = sender_grace(drain_timeout);
    shorten_sender_timeouts(of.acceptor.self, grace);
    for (const auto& each : of.workers) shorten_sender_timeouts(each->self, grace);

    const gauge& working = shared.metrics.inflight_requests;
    const gauge& copies = of.stores.copies;
    const unfinished_work left{
        .senders = of.senders, .working = working, .copies = copies, .patience = std::min(unasked_grace, grace)};
    const auto end = monotonic_clock::now() + drain_timeout;
    async_timer timer{co_await net::this_coro::executor};
    while (!left.is_over() && !is_impatient() && monotonic_clock::now() < end) {
        timer.expires_after(drain_poll_interval);
        co_await timer.async_wait(no_throw);
    }
    if (working.value() != 0)
        log::warn("requests not finished, their senders will try again", {{"requests", working.value()}});
    if (copies.value() != 0)
        log::warn("copies for replicas not finished, what is in them is lost", {{"requests", copies.value()}});
}

}  // namespace seriesgate
