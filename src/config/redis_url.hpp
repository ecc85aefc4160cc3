#pragma once

#include <string>
#include <string_view>

#include "config/redis_config.hpp"

/// Where a Valkey or Redis is, as text.
namespace seriesgate {

/// `redis://host[:port][/database]`, the same with `rediss://` for TLS, or `unix:///path[?db=n]`. Leaves what no URL
/// says alone.
/// @return what is wrong, or an empty string; then, and only then, the target has been written.
std::string parse_redis_url(std::string_view text, redis_config& target);

/// A sentinel: `host[:port]` or `[ipv6][:port]`; the default port is 26379. Returns as parse_redis_url.
std::string parse_sentinel_address(std::string_view text, host_port& target);

}  // namespace seriesgate
