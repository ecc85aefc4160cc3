#include "fleet/feed.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "fleet/store_text.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Pause when all has been read: for so long other gates' new series are unknown here.
constexpr auto interval = 100ms;
constexpr auto download_pause_min = 100ms;
constexpr auto download_pause_max = 5s;

}  // namespace

feed::feed(net::io_context& io, fleet_shared& shared, series_limiter& limiter)
    : shared_(shared),
      limiter_(limiter),
      client_(io, shared.settings.store, shared.store),
      follower_(limiter, shared.view, shared.run, shared.settings.store.timeout),
      download_(shared, client_),
      download_pause_(download_pause_min) {}

net::awaitable<void> feed::run() {
    for (;;) {
        client_.maintain();
        client_.follow_server(shared_.server_now());
        follower_.learn_late(clock::now());
        const end came_of_it = co_await read_next();
        if (came_of_it == end::more) continue;
        // What gates refill is in no feed, so the windows are read when that has ended.
        const bool may_download = shared_.view.state() == store_reach::joined && clock::now() >= download_at_;
        if (came_of_it == end::all && may_download) co_await fill_gaps();
        co_await sleep_for(interval);
    }
}

net::awaitable<feed::end> feed::read_next() {
    if (!shared_.view.is_reachable()) {
        follower_.lose();
        co_return end::nothing;
    }
    const auto sent = clock::now();
    std::vector<std::string> words = feed_read_words(shared_.view.epoch(), follower_.read(), shared_.keys);
    const auto reply = co_await client_.call_script(shared_.gates, std::move(words), answer_patience);
    const bool is_refused =
        !reply && (reply.error().why == redis_error::kind::denied || reply.error().why == redis_error::kind::other);
    if (is_refused && said_ != reply.error().text) {
        said_ = reply.error().text;
        log::warn("the fleet's feed cannot be read", {{"err", said_}});
    }
    if (!reply) co_return end::nothing;
    const auto page = read_feed_page(**reply);
    if (!page) {
        shared_.store.note({.why = redis_error::kind::protocol, .text = page.error()});
        co_return end::nothing;
    }
    feed_follower::news came;
    const bool is_taken = follower_.read_page(*page, sent, shared_.now(), came);
    shared_.metrics.fed_series.add(came.series);
    shared_.metrics.feed_gaps.add(came.gaps);
    if (!is_taken) co_return end::nothing;
    co_return follower_.read() == page->state.fed ? end::all : end::more;
}

/// What is granted meanwhile stands in the feed behind what has been read. At an hour's edge only counts are missing,
/// if the feed was not at its end then.
net::awaitable<void> feed::fill_gaps() {
    bool is_complete = true;
    if (follower_.wants_download()) {
        is_complete = co_await download_.read(limiter_, client_.connection_epoch());
        shared_.catches_up = false;
        if (is_complete) follower_.has_downloaded();
    } else if (!shared_.view.knows_hour_before()) {
        // There may be more budgets than are remembered: then it pauses, and reads them again.
        is_complete = co_await download_.read_counts() && shared_.view.knows_hour_before();
    }
    download_at_ = is_complete ? clock::time_point{} : clock::now() + download_pause_;
    download_pause_ = is_complete ? clock::duration{download_pause_min}
                                  : std::min<clock::duration>(2 * download_pause_, download_pause_max);
}

}  // namespace seriesgate
