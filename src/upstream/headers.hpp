/// Which headers go through a proxy.
#pragma once

#include <cstddef>
#include <string_view>

#include "net/http_fields.hpp"

namespace seriesgate {

/// Copies the end-to-end headers, in order and with repetitions. Left out: Connection and what it names (hop_fields),
/// Keep-Alive, Proxy-Connection, Proxy-Authenticate, Proxy-Authorization, TE, Trailer, Transfer-Encoding, Upgrade; and
/// what the message of this hop gets anew: Host, Content-Length, Expect.
/// @param tenant_header the name of the header that the gate takes the tenant from: it always goes on.
/// Source: RFC 9110, section 7.6.1.
void copy_end_to_end(const http::fields& from, http::fields& to, std::string_view tenant_header);

/// Removes digests of a body that has been changed.
void drop_body_digests(http::fields& headers);

/// What a copy of them takes in memory, roughly.
[[nodiscard]] std::size_t bytes_held(const http::fields& headers);

/// Adds this hop to the Via header. Source: RFC 9110, section 7.6.3.
void add_via(http::fields& headers);

}  // namespace seriesgate
