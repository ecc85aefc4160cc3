/// Who a request has come through, and whether it goes in circles.
#pragma once

#include <string_view>

#include "net/http_fields.hpp"

namespace seriesgate {

/// A request passes at most so many gates. One of its names in Via is enough to end a loop through this process; the
/// count ends one through a load balancer before several.
inline constexpr std::size_t gates_max = 4;

/// What this process adds to Via: `1.1 seriesgate-` and a random number of its own.
/// Source: RFC 9110, section 7.6.3: a pseudonym in place of a host name. Threads: any.
std::string_view own_via();

/// Whether the request has been here, or has passed gates_max gates. Linear in the bytes of its Via headers.
bool goes_in_circles(const http::fields& headers);

}  // namespace seriesgate
