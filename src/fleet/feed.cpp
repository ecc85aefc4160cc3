#include "fleet/feed.hpp"

#include <string>
#include <utility>
#include <vector>

#include "fleet/feed_text.hpp"
#include "limit/limiter.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Between two questions, when all has been read: it is what other gates' series are unknown for.
constexpr auto interval = 100ms;

}  // namespace

feed::feed(net::io_context& io, fleet_shared& shared, download by)
    : shared_(shared),
      client_(io, shared.settings.store, shared.store),
      download_(std::move(by)),
      reading_({.progress = shared.feed,
                .untold = shared.untold,
                .heard = shared.heard,
                .gate = shared.gate,
                .answers_within = shared.settings.store.timeout}) {}

net::awaitable<void> feed::resolve_stale(series_limiter& limiter) {
    async_timer timer{co_await net::this_coro::executor};
    for (;;) {
        client_.maintain();
        take_late(clock::now(), limiter);
        const end came_of_it = co_await read_next(limiter);
        if (came_of_it == end::more) continue;
        timer.expires_after(interval);
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

net::awaitable<feed::end> feed::read_next(series_limiter& limiter) {
    if (shared_.state() != fleet_state::joined) {
        shared_.feed.lose();
        co_return end::nothing;
    }
    begin(hour_number(shared_.now()));
    const auto sent = clock::now();
    std::vector<std::string> words = feed_words(reading_.hour(), reading_.read(), shared_.keys);
    const auto reply = co_await client_.call_script_there(shared_.feeds, std::move(words), answer_patience);
    if (!reply) co_return end::nothing;
    const auto said = read_feed_answer(**reply);
    if (!said) {
        shared_.store.note({.why = redis_error::kind::protocol, .text = said.error()});
        co_return end::nothing;
    }
    if (!take(*said, sent, limiter)) co_return end::nothing;
    if (reading_.read() != said->series) co_return end::more;
    co_await fill_gap();
    co_return end::all;
}

bool feed::take(const feed_answer& said, clock::time_point sent, series_limiter& limiter) {
    feed_reading::news came;
    const bool is_taken = reading_.take(said, sent, limiter, came);
    shared_.metrics.fed_series.add(came.fed);
    shared_.metrics.struck_series.add(came.struck);
    shared_.metrics.feed_gaps.add(came.gaps);
    return is_taken;
}

/// What is taken while it downloads stands in the feed behind what it has read.
net::awaitable<void> feed::fill_gap() {
    if (!download_ || !reading_.wants_download(clock::now())) co_return;
    const bool has_all = co_await download_(hour_of(time_point{std::chrono::hours{reading_.hour()}}));
    if (has_all) reading_.has_downloaded();
}

}  // namespace seriesgate
