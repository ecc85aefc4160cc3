/// A request from its first byte to its last.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "http/authentication.hpp"
#include "http/inflight.hpp"
#include "http/request_head.hpp"
#include "http/route_table.hpp"
#include "http/served_connection.hpp"
#include "net/asio.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

// --- One request on its way through a session.

using request_parser = http::request_parser<http::string_body>;

/// One request on its way through the session.
struct incoming_request {
    request_parser parser;
    request_header header;  ///< as it was when it had been read: no trailer becomes part of it
    bool keep_alive = false;
    inflight_lease memory;
    std::chrono::steady_clock::time_point began = monotonic_clock::now();
    const route* to = nullptr;  ///< once the header is known, if there is such a path
    bool skips_body = false;    ///< it is answered first, and what is left of its body is read then, for nothing
    bool is_probe = false;      ///< see header_verdict
    identity who{};             ///< once it is known

    explicit incoming_request(inflight_room& room) : memory(room) { parser.on_chunk_header(check_chunk_extension); }

    /// Of a request whose header is malformed behind its first line, too: who asks with HEAD reads no body.
    [[nodiscard]] bool is_head() const { return parser.get().method() == http::verb::head; }
    [[nodiscard]] bool is_ingestion() const { return to != nullptr && to->kind == route_kind::ingestion && !is_probe; }
};

/// Whose request it is: the tenant of the user, or else the one that the header names.
inline std::string_view tenant_for(const incoming_request& current, std::string_view tenant_header) {
    if (!current.who.bound_tenant.empty()) return current.who.bound_tenant;
    return tenant_of(current.header, tenant_header);
}

// --- What is decided about a request by its header alone.

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

/// The sender has closed or the network failed: nobody to answer to.
inline reply gone() {
    return {.status = 0};
}

/// Reads a request to its end: who it is from is asked between its header and its body.
/// @return what to answer if it comes to none; a reply with status 0 is gone().
net::awaitable<std::optional<reply>> receive(served_connection& peer, incoming_request& current);

/// Reads what is left of a body that is not wanted. @return whether the next request can follow.
net::awaitable<bool> skip_rest(served_connection& peer, incoming_request& current);

}  // namespace seriesgate
