/// One request on its way through a session.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <string_view>

#include "http/authentication.hpp"
#include "http/inflight.hpp"
#include "http/request_head.hpp"
#include "http/route_table.hpp"
#include "net/http_fields.hpp"
#include "system/clock.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
