/// The PROXY protocol's header, with which a connection begins.
/// Source: https://www.haproxy.org/download/2.8/doc/proxy-protocol.txt
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/bytes.hpp"
#include "core/sender_address.hpp"

namespace seriesgate {

/// A line of version 1, with its end.
inline constexpr std::size_t proxy_line_bytes_max = 107;
/// Version 2 after its first 16 bytes: addresses and type-length-values. The protocol allows 65535.
inline constexpr std::size_t proxy_body_bytes_max = 4096;
inline constexpr std::size_t proxy_header_bytes_max = 16 + proxy_body_bytes_max;

enum class proxy_header_state : std::uint8_t {
    incomplete,  ///< may become one with further bytes
    complete,
    absent,  ///< something else
    malformed,
};

struct proxy_header {
    proxy_header_state state = proxy_header_state::absent;
    std::size_t size = 0;  ///< of a complete one; what follows belongs to the connection
    /// Nothing: the connection's own address holds, as for LOCAL (the proxy itself), UNKNOWN, UDP and unix sockets.
    std::optional<ip_address> source{};
};

/// @param begin the connection's bytes so far. Bounded by proxy_header_bytes_max. Skips type-length-values.
[[nodiscard]] proxy_header parse_proxy_header(bytes_view begin) noexcept;

}  // namespace seriesgate
