#include "process/fleet_runtime.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <stdexcept>
#include <string>

#include "config/version.hpp"
#include "process/startup_steps.hpp"

namespace seriesgate {
namespace {

/// The version of the fingerprint computation. Gates of two versions can share series only if it is equal.
constexpr unsigned fingerprint_version = 2;

/// A running store needs some milliseconds.
constexpr auto fleet_leave_limit = std::chrono::seconds{1};

gate_identity identity_of(const config& settings, const hash_key& key) {
    return {.name = gate_name(settings.listen),
            .version = std::string{version()},
            .fingerprints = fmt::format("{} {:016x} {:016x}", fingerprint_version,
                                        ignored_labels_identity(settings.ignore_labels), key.identity())};
}

void require_joinable(const std::string& refused) {
    if (!refused.empty()) throw std::runtime_error("this gate cannot join its fleet: " + refused);
}

}  // namespace

fleet_runtime::fleet_runtime(const config& settings, const hash_key& key, fleet_metrics& metrics)
    : shared(settings.shared, identity_of(settings, key), metrics), self_(loop_.context(), shared) {
    loop_.start(start_thread, "fleet");
    try {
        require_joinable(net::co_spawn(loop_.context(), self_.greet(), net::use_future).get());
    } catch (...) {
        stop();
        throw;
    }
}

void fleet_runtime::join(series_limiter& limiter, const hash_key& key) {
    require_joinable(net::co_spawn(loop_.context(), self_.join(limiter, key), net::use_future).get());
    feed_.emplace(loop_.context(), shared, limiter);
    spawn_lasting(loop_.context(), "keeping the place in the fleet failed", [this] { return self_.keep(); });
    spawn_lasting(loop_.context(), "telling the shared store failed", [this] { return self_.tell(); });
    spawn_lasting(loop_.context(), "reading what other gates take failed", [this] { return feed_->run(); });
}

void fleet_runtime::leave(bool for_good) {
    net::co_spawn(loop_.context(), self_.leave(for_good), net::use_future).wait_for(fleet_leave_limit);
}

}  // namespace seriesgate
