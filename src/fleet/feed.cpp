#include "fleet/feed.hpp"

#include <boost/asio/steady_timer.hpp>
#include <string>
#include <utility>

#include "limit/learning.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Between two questions, when all has been read: it is what other gates' series are unknown for.
constexpr auto interval = 100ms;
/// For an answer: a busy store is not away.
constexpr auto patience = 2s;
/// Between two downloads of what the feed does not have any more.
constexpr auto download_interval = 5s;
/// From the end of the time in which a claim is answered until what it has taken is known.
constexpr auto settled_within = 500ms;
/// Some 30 MB.
constexpr std::size_t late_max = 16 * 1024;

std::int64_t number_of_hour(time_point now) {
    return std::chrono::floor<std::chrono::hours>(now).time_since_epoch().count();
}

window_span span_of(std::int64_t hour) {
    return hour_of(time_point{std::chrono::hours{hour}});
}

}  // namespace

feed::feed(net::io_context& io, fleet_shared& shared, download by)
    : shared_(shared), client_(io, shared.settings.store, shared.store), download_(std::move(by)) {}

net::awaitable<void> feed::follow(series_limiter& limiter) {
    net::steady_timer timer{co_await net::this_coro::executor};
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
    begin(number_of_hour(shared_.now()));
    const auto sent = clock::now();
    std::vector<std::string> words = feed_words(at_->hour, at_->read, shared_.keys);
    const auto reply = co_await client_.call_script_there(shared_.feeds, std::move(words), patience);
    if (!reply) co_return end::nothing;
    const auto said = read_feed_answer(**reply);
    if (!said) {
        shared_.store.note({.why = redis_error::kind::protocol, .text = said.error()});
        co_return end::nothing;
    }
    if (!take(*said, sent, limiter)) co_return end::nothing;
    if (!at_ || at_->read != said->series) co_return end::more;
    if (!at_->knows_all) co_await fill_gap();
    co_return end::all;
}

void feed::begin(std::int64_t hour) {
    if (at_ && at_->hour == hour) return;
    shared_.feed.lose();
    at_ = place{.hour = hour};
}

bool feed::take(const feed_answer& said, clock::time_point sent, series_limiter& limiter) {
    if (!said.is_whole || said.series < at_->read) {  // what it had after that may not be what it has by then
        const std::int64_t hour = at_->hour;
        at_.reset();
        begin(hour);
        return false;
    }
    for (const fed_claim& one : said.claims)
        if (!take_claim(one, sent, limiter)) return false;
    if (said.claims.size() < fed_claims_max && at_->read != said.series) lose_until(said.series);
    if (at_->knows_all && at_->read == said.series) shared_.feed.note(at_->hour, sent);
    return true;
}

bool feed::take_claim(const fed_claim& one, clock::time_point now, series_limiter& limiter) {
    const window_span hour = span_of(at_->hour);
    const bool is_own = one.gate == shared_.gate;
    if (!is_own) {
        if (!learn(limiter, hour, one.fingerprints) || !learn(limiter, hour, one.families)) return false;
        shared_.metrics.struck_series.add(shared_.untold.strike(hour, one.fingerprints));
        shared_.metrics.fed_series.add(one.fingerprints.size());
    }
    if (is_own || !late_.empty()) {
        const auto at = is_own ? now + shared_.settings.store.timeout + settled_within : late_.back().at;
        late_.push_back({.at = at, .hour = at_->hour, .said = one});
    } else {
        shared_.heard.hear_fed(at_->hour, one.hourly, one.daily);
    }
    if (one.upto - one.fingerprints.size() != at_->read) lose_until(one.upto);
    at_->read = one.upto;
    return true;
}

/// Something is missing among the series up to that number.
void feed::lose_until(std::uint64_t series) {
    shared_.metrics.feed_gaps.add();
    shared_.feed.lose();
    at_->knows_all = false;
    at_->read = series;
}

/// What is taken while it downloads stands in the feed behind what it has read.
net::awaitable<void> feed::fill_gap() {
    const auto now = clock::now();
    if (!download_ || now < at_->retry_at) co_return;
    at_->retry_at = now + download_interval;
    const bool has_all = co_await download_(span_of(at_->hour));
    at_->knows_all = has_all;
}

/// Another hour's are of no use any more.
void feed::take_late(clock::time_point now, series_limiter& limiter) {
    while (!late_.empty() && (late_.front().at <= now || late_.size() > late_max)) {
        const late& first = late_.front();
        if (first.said.gate == shared_.gate) {
            static_cast<void>(learn(limiter, span_of(first.hour), first.said.fingerprints));
            static_cast<void>(learn(limiter, span_of(first.hour), first.said.families));
        }
        shared_.heard.hear_fed(first.hour, first.said.hourly, first.said.daily);
        late_.pop_front();
    }
}

}  // namespace seriesgate
