/// What is decided about a request by its header alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/inflight.hpp"
#include "http/reply.hpp"
#include "http/request_head.hpp"
#include "http/route_table.hpp"

namespace seriesgate {

struct header_verdict {
    const route* to = nullptr;        ///< null if there is no such path; known of a request that is rejected, too
    std::optional<reply> rejected{};  ///< nothing: its body is to be read
    std::string tenant{};             ///< that the path names; empty: it names none
    bool is_probe = false;            ///< it asks whether the gate is there, brings no data and is counted as none
};

/// What requests are held against.
struct request_bounds {
    const route_table& routes;
    std::string_view tenant_header;        ///< its name
    std::span<const std::string> hosts{};  ///< see site_fault_of
    std::uint64_t body_bytes_max = 0;
    const inflight_lease& memory;  ///< the request's own
};

/// Answers probes, and rejects what need not be read to the end. Takes and counts nothing.
/// @param content_length as announced, if it was.
header_verdict check_header(const request_header& header, std::optional<std::uint64_t> content_length,
                            const request_bounds& bounds);

/// The answer to what is no HTTP, or no sound one.
reply malformed_http(std::string_view fault);

/// The answer to a header that is larger than it may be.
reply header_too_large(std::uint64_t bytes_max);

/// The answer to a body that is longer than it may be.
/// @param announced its length, if that is known.
reply body_too_large(std::uint64_t bytes_max, std::optional<std::uint64_t> announced = std::nullopt);

}  // namespace seriesgate
