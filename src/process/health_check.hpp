/// `seriesgate --health-check URL`: asks a server once, for containers without curl.
#pragma once

#include <string>
#include <string_view>

#include "top/subcommand.hpp"

namespace seriesgate {

inline constexpr std::string_view health_url = "http://127.0.0.1:9201/-/healthy";

/// @param url http://, https:// or unix:/path. Without a path: `/-/healthy`.
/// @param to empty; its target becomes the path and query.
/// @return the fault, without secrets of the URL; empty if `to` is set.
std::string parse_health_url(const std::string& url, top::server_address& to);

/// Asks once, within five seconds. Accepts any certificate: the request has no secret, and the answer is only a status.
/// @param url as for parse_health_url(); empty: health_url.
/// @return empty for 2xx; otherwise the result in one line.
std::string fault_of_health(const std::string& url);

}  // namespace seriesgate
