/// How many connections and descriptors there may be, by the configuration.
#pragma once

#include "config/config.hpp"
#include "http/connections.hpp"
#include "http/descriptors.hpp"

namespace seriesgate {

/// Those that connect to admin.listen are few: people, probes and scrapers.
inline constexpr connection_bounds admin_bounds{.total = 64, .handshakes = 64};

/// Whether the gate writes series of its own to the stores.
[[nodiscard]] bool writes_markers(const config& settings);

/// What takes descriptors besides connections from senders.
[[nodiscard]] descriptor_use descriptors_besides(const config& settings);

/// As configured, but no more than there are descriptors for; then the log says so. Raises the process' soft limit.
[[nodiscard]] connection_bounds connection_bounds_of(const server_config& settings, const descriptor_use& others);

}  // namespace seriesgate
