#include "app/marking.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "net/async.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {
namespace {

/// Stores that are there need some milliseconds for it; the end of the process waits for no others.
constexpr auto markers_leave_limit = std::chrono::seconds{2};
constexpr auto markers_leave_interval = std::chrono::milliseconds{2};

}  // namespace

marking::marking(net::io_context& loop, marker_sources from, shared_stores& stores)
    : loop_(loop), from_(std::move(from)) {
    writers_.emplace_back(loop_, from_, stores.first);
    for (shared_replica& each : stores.replicas) writers_.emplace_back(loop_, from_, each.store);
    for (marker_writer& each : writers_)
        spawn_lasting(
            loop_.get_executor(), [&each] { return each.run(); }, "writing markers failed");
}

net::awaitable<void> marking::leave() {
    async_timer timer{co_await net::this_coro::executor};
    const auto limit = monotonic_clock::now() + markers_leave_limit;
    net::post(loop_, [this] {
        for (marker_writer& each : writers_) each.end();
    });
    const auto have_ended = [this] { return std::ranges::all_of(writers_, &marker_writer::has_ended); };
    while (!have_ended() && monotonic_clock::now() < limit) {
        timer.expires_after(markers_leave_interval);
        co_await timer.async_wait(no_throw);
    }
}

}  // namespace seriesgate
