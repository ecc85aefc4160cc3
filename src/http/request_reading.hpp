/// Reads and checks one request, from its first byte to its last.
#pragma once

#include <algorithm>
#include <boost/beast/core/buffer_traits.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/optional.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "http/inflight.hpp"
#include "http/request_head.hpp"
#include "http/route_table.hpp"
#include "http/worker.hpp"
#include "net/async.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

/// A body for which only the beginning of its announced size is reserved, until that much has come and is counted in
/// inflight_room. Else a connection could reserve server.maxRequestBytes for one byte.
struct request_body : http::string_body {
    static constexpr std::size_t reserved_bytes_first = 1u << 20;

    class reader : public http::string_body::reader {
        std::string& body_;
        std::size_t announced_ = 0;

      public:
        template <bool is_request, class Fields>
        reader(http::header<is_request, Fields>& header, std::string& body)
            : http::string_body::reader(header, body), body_(body) {}

        void init(const boost::optional<std::uint64_t>& length, error_code& error) {
            announced_ = length.value_or(0);
            body_.reserve(std::min(announced_, reserved_bytes_first));
            error = {};
        }

        template <class Buffers>
        std::size_t put(const Buffers& from, error_code& error) {
            const std::size_t needed = body_.size() + boost::beast::buffer_bytes(from);
            if (needed > body_.capacity() && announced_ >= needed) body_.reserve(announced_);
            return http::string_body::reader::put(from, error);
        }
    };
};

using request_parser = http::request_parser<request_body>;

struct incoming_request {
    request_parser parser;
    request_header header;  ///< without trailers
    bool keep_alive = false;
    inflight_lease memory;
    std::chrono::steady_clock::time_point began = monotonic_clock::now();
    const route* to = nullptr;  ///< set once the header is read; null if the path does not exist
    bool skips_body = false;    ///< answer first, then read and drop the rest of the body
    bool is_probe = false;      ///< see header_verdict
    access_decision who{};      ///< set by authentication
    std::string proxied_for{};  ///< the sender that a trusted proxy names; empty: the connection's

    explicit incoming_request(inflight_room& room) : memory(room) { parser.on_chunk_header(check_chunk_extension); }

    /// True also if the header is malformed after its first line: an answer to HEAD has no body.
    [[nodiscard]] bool is_head() const { return parser.get().method() == http::verb::head; }
    [[nodiscard]] bool is_ingestion() const { return to != nullptr && to->kind == route_kind::ingestion && !is_probe; }
};

/// The sender's name for logs, answers and its turn in queues.
inline std::string_view sender_of(const incoming_request& current, const served_connection& peer) {
    return current.proxied_for.empty() ? peer.sender : current.proxied_for;
}

/// The user's bound tenant, or the one that the header names.
inline std::string_view tenant_for(const incoming_request& current, std::string_view tenant_header) {
    if (!current.who.bound_tenant.empty()) return current.who.bound_tenant;
    return field_value(current.header, tenant_header);
}

// --- The decision by the header alone.

struct header_verdict {
    const route* to = nullptr;      ///< null if the path does not exist; set also for a rejected request
    std::optional<reply> answer{};  ///< to a health check or a rejected request; nothing: read the body
    std::string tenant{};           ///< from the path; empty: it names none
    bool is_probe = false;          ///< a health check: has no data, and does not count as ingestion
};

struct request_bounds {
    const route_table& routes;
    std::string_view tenant_header;        ///< its name
    std::span<const std::string> hosts{};  ///< see site_fault_of
    std::uint64_t body_bytes_max = 0;
    const inflight_lease& memory;  ///< of this request
};

/// Answers probes, and rejects requests early. Reserves and counts nothing.
/// @param content_length if announced.
header_verdict check_header(const request_header& header, std::optional<std::uint64_t> content_length,
                            const request_bounds& bounds);

/// The sender has closed or the network failed: no answer is possible.
inline reply gone() {
    return {.status = 0};
}

/// Reads a whole request, and authenticates after its header.
/// @return the answer if it is rejected; with status 0: gone().
net::awaitable<std::optional<reply>> receive(served_connection& peer, incoming_request& current);

/// Reads and drops the rest of a body. @return whether the connection can carry another request.
net::awaitable<bool> skip_rest(served_connection& peer, incoming_request& current);

}  // namespace seriesgate
