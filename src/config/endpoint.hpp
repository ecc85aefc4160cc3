#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"

/// Addresses and URLs as the configuration spells them. Functions return what is wrong, or an empty string; then,
/// and only then, they have written the target.
namespace seriesgate {

/// `host:port`, `:port` (all IPv4 addresses) or `[ipv6]:port`; port 0 means any free one. Or `unix:/path`.
std::string parse_listen(std::string_view text, listen_address& target);

/// The same, or nothing for an empty text.
std::string parse_admin_listen(std::string_view text, std::optional<listen_address>& target);

/// `http://host[:port]/path[?query]`, or with https.
std::string parse_store_url(std::string_view text, store_backend& target);

/// Whether the path of a store's URL has a mark for the tenant.
bool has_tenant_mark(const store_backend& backend);

/// The name that a store's certificate has to have: a host's, or an IP address without brackets. May be empty.
std::string parse_server_name(std::string_view text, std::string& target);

/// The same as the one backend of the upstream, or `discard:`. Leaves all else alone.
std::string parse_upstream_url(std::string_view text, upstream_config& target);

}  // namespace seriesgate
