#include "fleet/teller.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "limit/limiter.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Of what one worker has yet to tell.
constexpr std::size_t bytes_max = 64u << 20;

constexpr auto telling_pause_min = 100ms;
constexpr auto telling_pause_max = 1000ms;

}  // namespace

teller::teller(net::io_context& io, fleet_shared& shared, claimer& by, series_limiter& limiter, const hash_key& key)
    : shared_(shared), claimer_(by), limiter_(limiter), key_(key), wakes_(io, async_timer::time_point::max()) {}

untold_series* teller::at_once() noexcept {
    return has_room() ? &shared_.untold : nullptr;
}

bool teller::has_room() const noexcept {
    return queue_bytes_ < bytes_max;
}

void teller::take(untold one) {
    queue_bytes_ += one.bytes();
    queue_.push_back(std::move(one));
    wakes_.cancel();
}

net::awaitable<void> teller::run() {
    questions asked{key_};
    async_timer pausing{co_await net::this_coro::executor};
    std::chrono::milliseconds pause = telling_pause_min;
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
            pause = telling_pause_min;
            continue;
        }
        queue_bytes_ += bytes;
        queue_.push_front(std::move(one));
        pausing.expires_after(pause);
        auto [error] = co_await pausing.async_wait(no_throw);
        if (error) co_return;
        pause = std::min(2 * pause, std::chrono::milliseconds{telling_pause_max});
    }
}

net::awaitable<teller::end> teller::tell(untold& one, questions& asked) {
    // The time may go back by what an answer took, and over an hour's edge: that hour is not over.
    if (hour_of(shared_.now()).start > one.open.hour.start) {
        drop(one);
        co_return end::done;
    }
    if (!one.owed) shared_.untold.keep_untold(one);
    if (one.open.pending.empty()) co_return end::done;
    asked.start();
    asked.ask(one.series, one.open, one.tenant, [](std::uint64_t) { return true; });
    std::vector<std::optional<claim_answer>> answers(asked.claims().size());
    const claimer::end came_of_it = co_await claimer_.ask_patiently(asked, one.tenant, one.owed, answers);
    if (came_of_it == claimer::end::closed) {
        drop(one);
        co_return end::done;
    }
    if (came_of_it == claimer::end::unanswered) co_return end::again;
    const told said = asked.tell(answers, told_outcome::withheld);
    co_return settle(one, said) ? end::done : end::again;
}

/// Its hour is over. It has counted for nobody; the reservation was its room, or the share.
void teller::drop(const untold& one) {
    (one.owed ? shared_.metrics.owed_too_late : shared_.metrics.told_too_late).add(one.series.size());
    forget(one);
}

void teller::forget(const untold& one) {
    if (one.owed)
        shared_.own_shares.settle(hour_number(one.open.hour.start), one.series);
    else
        shared_.untold.remove(one.open.hour, one.series);
}

/// @return false if there is no memory for it now.
bool teller::settle(untold& one, const told& said) {
    std::vector<verdict> verdicts(one.series.size());
    try {
        lookup_result open = one.open;  // is used up
        const request_origin origin{.tenant = one.tenant};
        (void)limiter_.commit(one.series, shared_.now(), verdicts, open, origin, &said);
    } catch (const std::bad_alloc&) {
        return false;
    }
    count(one, said);
    forget(one);
    return true;
}

void teller::count(const untold& one, const told& said) {
    auto& counted = one.owed ? shared_.metrics.owed : shared_.metrics.told;
    for (const told_series& each : said.pending) {
        if (each.outcome == told_outcome::known) counted[claim_outcome::known].add();
        if (each.outcome == told_outcome::taken) counted[claim_outcome::taken].add();
        if (each.outcome == told_outcome::refused) counted[claim_outcome::refused].add();
    }
}

}  // namespace seriesgate
