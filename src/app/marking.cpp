#include "app/marking.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "net/background.hpp"

namespace seriesgate {
namespace {

/// Stores that are there need some milliseconds for it; for others nobody waits with the end of the process.
constexpr auto markers_leave_limit = std::chrono::seconds{2};
constexpr auto markers_leave_interval = std::chrono::milliseconds{2};

}  // namespace

marking::marking(marker_sources from, shared_stores& stores) : from_(std::move(from)) {
    writers_.emplace_back(io_, from_, stores.first);
    for (shared_replica& each : stores.replicas) writers_.emplace_back(io_, from_, each.store);
    for (marker_writer& each : writers_)
        spawn_lasting(
            io_.get_executor(), [&each] { return each.run(); }, "writing markers failed");
    thread_ = std::jthread{[this] { run_handlers(io_); }};
}

void marking::leave() {
    const auto limit = std::chrono::steady_clock::now() + markers_leave_limit;
    net::post(io_, [this] {
        for (marker_writer& each : writers_) each.end();
    });
    const auto have_ended = [this] { return std::ranges::all_of(writers_, &marker_writer::has_ended); };
    while (!have_ended() && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(markers_leave_interval);
}

void marking::stop() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
}

}  // namespace seriesgate
