#include "app/running_workers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "http/delay_probe.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {
namespace {

/// Requests of each worker whose incumbents the shared store is being told of, in a fleet.
constexpr int tellings_at_once = 2;

}  // namespace

running_workers::running_workers(const worker_threads& workers, const config& settings, const thread_starter& by)
    : workers_(workers) {
    try {
        for (std::size_t i = 0; i < workers.size(); ++i) start(i, settings, by);
    } catch (...) {  // no memory, or no thread: those that run have to end before they are joined
        stop();
        throw;
    }
}

void running_workers::stop() noexcept {
    for (const auto& each : workers_) each->self.io.stop();
    threads_.clear();
}

void running_workers::start(std::size_t number, const config& settings, const thread_starter& by) {
    serving_thread& one = *workers_[number];
    net::io_context& io = one.self.io;
    if (!settings.upstream.discard || settings.shared.has_store())
        spawn_lasting(
            io.get_executor(), [&ingest = *one.ingest] { return ingest.maintain(); },
            "keeping the ways to the stores failed");
    for (int i = 0; one.ingest->tells() && i < tellings_at_once; ++i)
        spawn_lasting(
            io.get_executor(), [&ingest = *one.ingest] { return ingest.tell_untold(); },
            "telling the shared store failed");
    spawn_lasting(
        io.get_executor(), [&self = one.self] { return probe_delay(self); }, "measuring the queue's delay failed");
    threads_.push_back(by(io, fmt::format("worker-{}", number)));
}

std::chrono::steady_clock::time_point oldest_turn(const worker_threads& workers) noexcept {
    auto oldest = std::chrono::steady_clock::time_point::max();
    for (const auto& each : workers) oldest = std::min(oldest, each->self.last_turn.load());
    return oldest;
}

}  // namespace seriesgate
