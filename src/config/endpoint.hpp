#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"

/// Addresses and URLs as the configuration spells them. Both functions return what is wrong, or an empty string; then,
/// and only then, they have written the target.
namespace seriesgate {

/// `host:port`, `:port` (all IPv4 addresses) or `[ipv6]:port`; port 0 means any free one.
std::string parse_listen(std::string_view text, listen_address& target);

/// `http://host[:port]/path[?query]` or `discard:`. Leaves the timeout alone.
std::string parse_upstream_url(std::string_view text, upstream_config& target);

}  // namespace seriesgate
