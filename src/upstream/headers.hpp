/// Which headers go through a proxy.
#pragma once

#include <string_view>

#include "upstream/net.hpp"

namespace seriesgate {

/// Copies the end-to-end headers, in order and with repetitions. Left out: Connection and what it names, Keep-Alive,
/// Proxy-Connection, Proxy-Authenticate, Proxy-Authorization, TE, Trailer, Transfer-Encoding, Upgrade; and what the
/// message of this hop gets anew: Host, Content-Length, Expect.
/// Source: RFC 9110, section 7.6.1.
void copy_end_to_end(const http::fields& from, http::fields& to);

/// Removes digests of a body that has been changed.
void drop_body_digests(http::fields& headers);

/// Adds this hop to the Via header. Source: RFC 9110, section 7.6.3.
void add_via(http::fields& headers);

}  // namespace seriesgate
