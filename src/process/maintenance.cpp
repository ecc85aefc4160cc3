#include "process/maintenance.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "cardinality/suggestions.hpp"
#include "ingest/series_sampler.hpp"
#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Far shorter than a flood of requests needs to fill a filter's spare room.
constexpr auto maintenance_interval = 20ms;
/// While no series are admitted. The next hour's filters are made a minute ahead.
constexpr auto idle_maintenance_interval = 1s;
constexpr auto pause_after_failure = 1s;
/// Not urgent: the limiter keeps ended windows until they are read.
constexpr auto demand_interval = 1s;

/// Running stores need some milliseconds; the end does not wait for others.
constexpr auto markers_leave_limit = std::chrono::seconds{2};
constexpr auto markers_leave_interval = std::chrono::milliseconds{2};

constexpr std::chrono::seconds file_poll_interval{1};

void check(const file_check& one, const file_look& look) noexcept {
    try {
        one(look);
    } catch (const std::exception& error) {  // out of memory: tries again in a second
        log::error("files not looked at", {{"err", error.what()}});
    }
}

}  // namespace

net::awaitable<void> maintain(series_limiter& limiter, series_sampler& sampler, std::function<time_point()> now,
                              std::shared_ptr<async_event> admits) {
    bool in_doubt = false;
    std::uint64_t seen_revision = limiter.revision();
    for (;;) {
        const std::uint64_t revision = limiter.revision();
        const bool is_idle = std::exchange(seen_revision, revision) == revision;
        monotonic_clock::duration pause = is_idle ? idle_maintenance_interval : maintenance_interval;
        try {
            limiter.maintain(now());
            sampler.end_hours();
            if (limiter.sets()->leap && !in_doubt)
                log::warn("the clock has leapt by over an hour", {{"believed_in_minutes", clock_doubt.count()}});
            in_doubt = limiter.sets()->leap.has_value();
        } catch (const std::exception& error) {
            // Usually no memory for a larger filter: requests that need it make it themselves, or get 503.
            log::error("series filters not maintained", {{"err", error.what()}});
            pause = pause_after_failure;
        }
        co_await admits->wait_until(monotonic_clock::now() + pause);
    }
}

net::awaitable<void> watch_demand(observed_demand& demand, series_limiter& limiter, std::function<time_point()> now) {
    for (;;) {
        co_await sleep_for(demand_interval);
        if (limiter.sets()->leap) continue;
        try {
            demand.look(limiter, now());
        } catch (const std::bad_alloc&) {  // maintain() logs it; the hour's figures only get a gap
        }
    }
}

net::awaitable<void> watch_delivery(guarded<delivery_record>& into, std::function<gate_counts()> counts,
                                    std::function<time_point()> now) {
    for (;;) {
        into.lock()->note(std::chrono::floor<std::chrono::seconds>(now()), counts());
        co_await sleep_for(delivery_record::interval);
    }
}

marking::marking(net::io_context& loop, marker_sources from, shared_stores& stores)
    : loop_(loop), from_(std::move(from)) {
    writers_.emplace_back(loop_, from_, stores.first);
    for (shared_replica& each : stores.replicas) writers_.emplace_back(loop_, from_, each.store);
    for (marker_writer& each : writers_) spawn_lasting(loop_, "writing markers failed", [&each] { return each.run(); });
}

net::awaitable<void> marking::leave() {
    const auto limit = monotonic_clock::now() + markers_leave_limit;
    net::post(loop_, [this] {
        for (marker_writer& each : writers_) each.end();
    });
    const auto have_ended = [this] { return std::ranges::all_of(writers_, &marker_writer::has_ended); };
    while (!have_ended() && monotonic_clock::now() < limit) co_await sleep_for(markers_leave_interval);
}

net::awaitable<void> file_poller::run(std::vector<file_check> checks) {
    const auto asked = std::make_shared<async_event>(co_await net::this_coro::executor);
    *waits_.lock() = asked;
    for (;;) {
        const file_look look{.are_whole = is_asked_.exchange(false)};
        for (const file_check& each : checks) check(each, look);
        co_await asked->wait_until(monotonic_clock::now() + file_poll_interval);
    }
}

void file_poller::ask() {
    is_asked_ = true;
    if (const auto run = waits_.lock()->lock()) run->notify();
}

}  // namespace seriesgate
