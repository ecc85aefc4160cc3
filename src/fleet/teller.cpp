#include "fleet/teller.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Of what one worker has yet to tell.
constexpr std::size_t bytes_max = 64u << 20;

constexpr auto pause_min = 100ms;
constexpr auto pause_max = 1000ms;

}  // namespace

teller::teller(net::io_context& io, fleet_shared& shared, claimer& by, series_limiter& limiter, const hash_key& key)
    : shared_(shared), claimer_(by), limiter_(limiter), key_(key), wakes_(io, net::steady_timer::time_point::max()) {}

untold_series* teller::at_once() noexcept {
    return queue_bytes_ < bytes_max ? &shared_.untold : nullptr;
}

void teller::take(untold one) {
    queue_bytes_ += one.bytes();
    queue_.push_back(std::move(one));
    wakes_.cancel();
}

net::awaitable<void> teller::run() {
    questions asked{key_};
    net::steady_timer pausing{co_await net::this_coro::executor};
    std::chrono::milliseconds pause = pause_min;
    for (;;) {
        if (queue_.empty()) {
            asked.shrink();
            co_await wakes_.async_wait(no_throw);
            continue;
        }
        untold one = std::move(queue_.front());
        queue_.pop_front();
        const std::size_t bytes = one.bytes();
        queue_bytes_ -= bytes;
        const end came_of_it = co_await tell(one, asked);
        if (came_of_it == end::done) {
            pause = pause_min;
            continue;
        }
        queue_bytes_ += bytes;
        queue_.push_front(std::move(one));
        pausing.expires_after(pause);
        auto [error] = co_await pausing.async_wait(no_throw);
        if (error) co_return;
        pause = std::min(2 * pause, std::chrono::milliseconds{pause_max});
    }
}

net::awaitable<teller::end> teller::tell(untold& one, questions& asked) {
    // The time may go back by what an answer took, and over an hour's edge: that hour is not over.
    if (hour_of(shared_.now()).start > one.open.hour.start) {
        drop(one);
        co_return end::done;
    }
    shared_.untold.keep_untold(one);
    if (one.open.pending.empty()) co_return end::done;
    asked.start();
    asked.ask(one.series, one.open, one.tenant, [](std::uint64_t) { return true; });
    std::vector<std::optional<claim_answer>> answers(asked.claims().size());
    const claimer::end came_of_it = co_await claimer_.ask_patiently(asked, one.tenant, answers);
    if (came_of_it == claimer::end::closed) {
        drop(one);
        co_return end::done;
    }
    if (came_of_it == claimer::end::unanswered) co_return end::again;
    const told said = asked.tell(answers, told_outcome::withheld);
    co_return settle(one, said) ? end::done : end::again;
}

/// Its hour is over. It has counted for nobody; the reservation was its room.
void teller::drop(const untold& one) {
    shared_.metrics.told_too_late.add(one.series.size());
    shared_.untold.remove(one.open.hour, one.series);
}

/// @return false if there is no memory for it now.
bool teller::settle(untold& one, const told& said) {
    std::vector<verdict> verdicts(one.series.size());
    try {
        undecided open = one.open;  // is used up
        const request_origin origin{.tenant = one.tenant};
        (void)limiter_.settle(one.series, shared_.now(), verdicts, open, origin, &said);
    } catch (const std::bad_alloc&) {
        return false;
    }
    for (const told_series& each : said.pending) {
        if (each.outcome == told_outcome::known) shared_.metrics.told[claim_outcome::known].add();
        if (each.outcome == told_outcome::taken) shared_.metrics.told[claim_outcome::taken].add();
        if (each.outcome == told_outcome::refused) shared_.metrics.told[claim_outcome::refused].add();
    }
    shared_.untold.remove(one.open.hour, one.series);
    return true;
}

}  // namespace seriesgate
