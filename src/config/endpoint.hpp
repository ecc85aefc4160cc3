#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "core/path_tenant.hpp"

/// Addresses and URLs as the configuration spells them. Functions return what is wrong, or an empty string; then,
/// and only then, they have written the target.
namespace seriesgate {

/// `host:port`, `:port` (all IPv4 addresses) or `[ipv6]:port`; port 0 means any free one. Or `unix:/path`.
std::string parse_listen(std::string_view text, listen_address& target);

/// The same, or nothing for an empty text.
std::string parse_admin_listen(std::string_view text, std::optional<listen_address>& target);

/// `http://host[:port]/path[?query]`, or with https.
std::string parse_store_url(std::string_view text, store_backend& target);

/// An URL that ends behind the host, with this path; any other as it is.
std::string with_path(std::string_view url, std::string_view path);

/// The mark for the tenant in the path of a store's URL; nothing if there is none. Views into it.
std::optional<tenant_pattern> tenant_mark_of(const store_backend& backend);
bool has_tenant_mark(const store_backend& backend);

/// The name that a store's certificate has to have: a host's, or an IP address without brackets. May be empty.
std::string parse_server_name(std::string_view text, std::string& target);

/// The same as the one backend of the upstream, or `discard:`. Leaves all else alone.
std::string parse_upstream_url(std::string_view text, upstream_config& target);

/// `redis://host[:port][/database]`, the same with `rediss://` for TLS, or `unix:///path[?db=n]`. Leaves alone what no
/// URL says.
std::string parse_redis_url(std::string_view text, redis_config& target);

/// A sentinel: `host[:port]` or `[ipv6][:port]`; the default port is 26379. Returns as parse_redis_url.
std::string parse_sentinel_address(std::string_view text, host_port& target);

enum class own_address : std::uint8_t {
    no,
    maybe,  ///< this machine and the port, and yet another program may listen there
    yes,
};

/// Whether a gate that listens there sends to itself: to its own port, at the host it listens on, or at this machine
/// (`localhost`, a loopback address, 0.0.0.0) where it listens on that or on everything. Names are not resolved. Two
/// addresses of this machine, such as 127.0.0.1 and ::1, are two sockets, and two programs may have them.
own_address find_own_address(const listen_address& listen, const store_backend& upstream);

}  // namespace seriesgate
