#pragma once

#include "config/config.hpp"

namespace seriesgate {

/// Whether a gate that listens there sends to itself: to its own port, at the host it listens on, or at this machine
/// (`localhost`, a loopback address, 0.0.0.0) where it listens on that or on everything. Names are not resolved.
bool is_own_address(const listen_address& listen, const upstream_config& upstream);

}  // namespace seriesgate
