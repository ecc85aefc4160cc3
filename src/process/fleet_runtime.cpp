#include "process/fleet_runtime.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <stdexcept>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/version.hpp"
#include "net/event_loop.hpp"
#include "process/startup_steps.hpp"

namespace seriesgate {
namespace {

/// The version of the fingerprint computation. Gates of two versions can share series only if it is equal.
constexpr unsigned fingerprint_version = 2;

/// A running store needs some milliseconds.
constexpr auto fleet_leave_limit = std::chrono::seconds{1};
constexpr auto fleet_leave_interval = std::chrono::milliseconds{2};

gate_identity identity_of(const config& settings, const hash_key& key) {
    return {.name = gate_name(settings.listen),
            .version = std::string{version()},
            .fingerprints = fmt::format("{} {:016x} {:016x}", fingerprint_version,
                                        ignored_labels_identity(settings.ignore_labels), key.identity())};
}

}  // namespace

fleet_runtime::fleet_runtime(const config& settings, const hash_key& key, fleet_metrics& metrics)
    : shared(settings.shared, metrics),
      self_(io_, shared, identity_of(settings, key)),
      download_(io_, shared),
      feed_(io_, shared, [this](const window_span&) { return download_.once_more(); }) {
    thread_ = std::jthread{[this] { run_handlers(io_); }};
    try {
        const std::string refused = net::co_spawn(io_, self_.join(), net::use_future).get();
        if (!refused.empty()) throw std::runtime_error("this gate cannot join its fleet: " + refused);
    } catch (...) {
        stop();
        throw;
    }
    if (!settings.state.dir.empty())
        log::info("state.dir holds no series in a fleet, the shared store does", {{"dir", settings.state.dir}});
}

void fleet_runtime::stay(series_limiter& limiter) {
    const auto go_on = [this](auto make, const char* failed) { spawn_lasting(io_.get_executor(), make, failed); };
    go_on([this, &limiter] { return self_.keep(limiter); }, "keeping the place in the fleet failed");
    go_on([this, &limiter] { return download_.run(limiter); }, "reading the fleet's series failed");
    go_on([this, &limiter] { return feed_.resolve_stale(limiter); }, "reading what other gates take failed");
}

void fleet_runtime::stop() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
}

void fleet_runtime::leave() {
    const auto limit = monotonic_clock::now() + fleet_leave_limit;
    net::co_spawn(io_, self_.leave(), net::detached);
    while (shared.keeps_places && monotonic_clock::now() < limit) std::this_thread::sleep_for(fleet_leave_interval);
}

}  // namespace seriesgate
