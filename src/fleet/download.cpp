#include "fleet/download.hpp"

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "limit/learning.hpp"
#include "limit/limiter.hpp"
#include "limit/window_rotation.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Until the gate has joined it is looked so often whether it has.
constexpr auto join_interval = 50ms;
/// Whoever asks for another download waits so long for it.
constexpr auto once_more_max = 30s;
constexpr auto download_pause_min = 100ms;
constexpr auto download_pause_max = 5s;
constexpr std::uint32_t buckets_max = 1 << 20;

/// Of a field that a script has written; nothing if it is none.
template <class Number>
std::optional<Number> number_in(const redisReply& field) {
    const std::string_view text = text_of(field);
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// A window by two fields of the head; nothing if it is another, or none.
std::optional<shared_set> set_in(const redisReply& hour, const redisReply& buckets, std::int64_t wanted,
                                 const store_keys& keys) {
    const auto count = number_in<std::uint32_t>(buckets);
    if (number_in<std::int64_t>(hour) != wanted || !count) return std::nullopt;
    if (*count == 0 || *count > buckets_max || (*count & (*count - 1)) != 0) return std::nullopt;
    return shared_set{.record = keys.hour(wanted), .buckets = *count};
}

std::int64_t number_of(const window_span& hour) {
    return std::chrono::floor<std::chrono::hours>(hour.start).time_since_epoch().count();
}

}  // namespace

download::download(net::io_context& io, fleet_shared& shared)
    : shared_(shared), client_(io, shared.settings.store, shared.store), wakes_(io) {}

net::awaitable<bool> download::once_more() {
    const std::uint64_t wanted = ++asked_;
    wakes_.cancel();
    async_timer timer{co_await net::this_coro::executor};
    const auto give_up = clock::now() + once_more_max;
    while (done_ < wanted) {
        if (clock::now() >= give_up) co_return false;
        timer.expires_after(join_interval);
        co_await timer.async_wait(no_throw);
    }
    co_return true;
}

net::awaitable<void> download::run(series_limiter& limiter) {
    clock::duration pause = download_pause_min;
    for (;;) {
        clock::duration wait = pause;
        if (done_ == asked_) {
            wait = async_timer::duration::max() / 4;
        } else if (shared_.state() != fleet_state::joined) {
            wait = join_interval;
        } else {
            const std::uint64_t asked = asked_;
            const bool is_complete = co_await attempt(limiter);
            shared_.catches_up = false;
            if (is_complete) {
                done_ = asked;
                pause = download_pause_min;
                continue;
            }
            pause = std::min<clock::duration>(2 * pause, download_pause_max);
        }
        wakes_.expires_after(wait);
        co_await wakes_.async_wait(no_throw);
    }
}

net::awaitable<bool> download::attempt(series_limiter& limiter) {
    const auto began = clock::now();
    const ending came_of_it = co_await read(limiter);
    shared_.metrics.downloads[came_of_it.result].add();
    tell(came_of_it, clock::now() - began);
    co_return came_of_it.result == download_result::complete;
}

/// Senders are waited for while what they will send is read, and no longer.
net::awaitable<download::ending> download::read(series_limiter& limiter) {
    ending all;
    const time_point now = shared_.now();
    const window_span hour = limiter.time().in_force(now)->hour_span;
    auto found = co_await find(number_of(hour));
    if (!found) co_return ending{.result = download_result::failed, .why = found.error()};
    if (found->hour) {
        const bool is_read = co_await read_into(limiter, hour, *found->hour, false, all);
        if (!is_read) co_return all;
    }
    const bool in_grace = now < hour.start + limiter.rules()->incumbent_grace;
    if (!in_grace) shared_.catches_up = false;
    if (found->before) co_await read_into(limiter, hour, *found->before, true, all);
    co_return all;
}

/// Nothing is believed of a server that may have lost counts: its sets may hold what is counted nowhere.
net::awaitable<result<download::found_sets, std::string>> download::find(std::int64_t hour) {
    std::vector<std::string> words{"HMGET",  shared_.keys.head(), "server", "hour", "buckets",
                                   "before", "before_buckets"};
    const auto head = co_await client_.call(std::move(words), answer_patience);
    if (!head) co_return head.error().text;
    if ((*head)->type != REDIS_REPLY_ARRAY || (*head)->elements != 5) co_return std::string{"no answer to HMGET"};
    redisReply** const fields = (*head)->element;
    if (text_of(*fields[0]) != client_.run_id()) co_return std::string{"its counts are not whole"};
    found_sets found;
    for (const std::size_t at : {std::size_t{1}, std::size_t{3}}) {
        auto here = set_in(*fields[at], *fields[at + 1], hour, shared_.keys);
        auto before = set_in(*fields[at], *fields[at + 1], hour - 1, shared_.keys);
        if (here) found.hour = std::move(here);
        if (before) found.before = std::move(before);
    }
    for (std::optional<shared_set>* const each : {&found.hour, &found.before}) {
        if (!*each) continue;
        std::vector<std::string> asked{"HGET", (*each)->record, "members"};
        const auto members = co_await client_.call(std::move(asked), answer_patience);
        if (!members) co_return members.error().text;
        (*each)->series = number_in<std::uint64_t>(**members).value_or(0);
    }
    co_return found;
}

/// @return whether all has been read and learnt.
net::awaitable<bool> download::read_into(series_limiter& limiter, window_span hour, shared_set set, bool before,
                                         ending& all) {
    bool is_in_force = false;
    try {
        is_in_force = before ? expect_hour_before(limiter, hour, set.series) : expect_series(limiter, hour, set.series);
    } catch (const std::bad_alloc&) {
        all.result = download_result::failed;
        all.why = "no memory";
        co_return false;
    }
    set_reading came;
    if (is_in_force) {
        series_taker take = [&limiter, hour, before, &counted = shared_.metrics](std::span<const std::uint64_t> some) {
            const bool is_known = before ? learn_hour_before(limiter, hour, some) : learn(limiter, hour, some);
            if (is_known) counted.downloaded_series.add(some.size());
            return is_known;
        };
        came = co_await read_set(client_, std::move(set), std::move(take));
    }
    all.bytes += came.bytes;
    (before ? all.incumbents : all.series) += came.series;
    if (!is_in_force || came.is_refused) all.result = download_result::overtaken;
    if (!came.failed.empty()) {
        all.result = download_result::failed;
        all.why = came.failed;
    }
    co_return all.result == download_result::complete;
}

/// Why one has failed once for each reason. One that an hour's end has overtaken goes on with the next.
void download::tell(const ending& of, clock::duration lasted) {
    if (of.result == download_result::complete) {
        log::info("the fleet's series are known", {{"series", of.series},
                                                   {"incumbents", of.incumbents},
                                                   {"bytes", of.bytes},
                                                   {"seconds", std::chrono::duration<double>(lasted).count()}});
        said_.clear();
    } else if (of.result == download_result::failed && said_ != of.why) {
        log::warn("the fleet's series cannot be read", {{"err", of.why}});
        said_ = of.why;
    }
}

}  // namespace seriesgate
