/// Checks passwords beside all requests: each takes a good part of a second.
#pragma once

#include "access/access_control.hpp"
#include "net/asio.hpp"

namespace seriesgate {

/// Checks one after the other. Spawn it once, on an event loop of its own, before others use `access`.
net::awaitable<void> check_passwords(access_control& access);

}  // namespace seriesgate
