/// Gates that forward to each other in a circle: each writes itself into Via, and knows itself there.
#pragma once

#include <cstddef>
#include <string_view>

#include "net/http_fields.hpp"

namespace seriesgate {

/// A request may pass this many gates. Its own name in Via ends a loop through one process; this count ends a loop
/// through a load balancer in front of several.
inline constexpr std::size_t gates_max = 4;

/// The process' Via item: `1.1 seriesgate-` and a random number. Threads: any. Source: RFC 9110, section 7.6.3: a
/// pseudonym in place of a host name.
std::string_view own_via();

/// Whether the request has passed this process before, or gates_max gates. Linear in the bytes of its Via headers.
bool is_request_loop(const http::fields& headers);

}  // namespace seriesgate
