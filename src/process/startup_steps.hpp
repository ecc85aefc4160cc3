/// The first line of the log: what was started, in words that need no documentation.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "http/connections.hpp"
#include "net/asio.hpp"
#include "process/listeners.hpp"
#include "process/serving.hpp"

namespace seriesgate {

// --- From the start to the moment when the gate is ready.

class fleet_shared;

/// What happens on the way, on the front desk's thread.
struct startup_steps {
    inherited_listeners& place;
    const worker_threads& workers;
    const fleet_shared* fleet;  ///< none: the gate counts alone
    lifecycle& life;
    std::function<void()> serves;             ///< connections may be accepted from now on; nobody else does any more
    std::function<void()> ready;              ///< the same moment as /-/ready answers 200
    std::function<void(std::string)> failed;  ///< the gate of before goes on: why
};

/// Serves at once, but where connections may wait without being refused: there they wait until the gate is ready, for
/// at most a second or, in place of a gate that runs, for as long as that has patience. Spawn it once.
net::awaitable<void> open(startup_steps steps);

// --- How many connections and descriptors there may be, by the configuration.

/// Those that connect to admin.listen are few: people, probes and scrapers.
inline constexpr connection_bounds admin_bounds{.total = 64, .handshakes = 64};

/// Whether the gate writes series of its own to the stores.
[[nodiscard]] bool writes_markers(const config& settings);

/// What takes descriptors besides connections from senders.
[[nodiscard]] descriptor_use descriptors_besides(const config& settings);

/// As configured, but no more than there are descriptors for; then the log says so. Raises the process' soft limit.
[[nodiscard]] connection_bounds connection_bounds_of(const server_config& settings, const descriptor_use& others);

/// Where the gate listens.
struct listening_at {
    std::string senders;
    std::string admin_server;  ///< may be the same
};

/// @param config_file empty: there is none.
void log_start(const config& settings, const listening_at& where, std::size_t threads, std::string_view config_file);

/// By what a sender shows who it is: "users, certificates", or "none".
std::string authentication_in_words(const web_config& web);

/// "each 1000 an hour, 5000 a day; 2 overrides"
std::string in_words(const tenant_limits& tenants);

/// How many, and the names of the first: "2: per-namespace, per-job (observe)"
std::string in_words(const std::vector<label_limit>& limits);

}  // namespace seriesgate
