/// Requests to an upstream: their headers, and the message as it is written.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/span_body.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "core/bytes.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

/// What to send. make_message() copies headers and query. The body's bytes must not change while it is sent.
struct upstream_request {
    const http::fields& headers;  ///< the sender's
    std::string_view tenant_header;
    std::string_view tenant{};        ///< replaces the header's value; empty: keep it
    std::string_view path_tenant{};   ///< for a URL with the tenant in its path
    bool keeps_authorization = true;  ///< the sender's Authorization header is meant for the store
    bool for_replica = false;         ///< the sender's Authorization and Cookie are meant for the first store only
    std::string_view query;           ///< the forwarded part of the sender's query string, without '?'; may be empty
    bytes_view body;
    std::string_view content_type{};      ///< replaces the header; empty: keep it
    std::string_view content_encoding{};  ///< the same
    bool body_changed = false;
    bool translated = false;  ///< from version 2 of remote write to version 1
    /// Keeps the body alive, for several senders and beyond the caller's life. Without it, the body must outlive the
    /// exchange.
    std::shared_ptr<const void> body_owner{};
};

/// The upstream's answer. The body is cut after response_bytes_max.
struct upstream_answer {
    unsigned status = 0;
    http::fields headers;
    std::string body;
};

/// Stores answer with an empty body or some error lines; senders read 1 KiB of it.
inline constexpr std::size_t response_bytes_max = 256 * 1024;

// --- Forwarded headers.

/// Real messages name one or two fields in Connection. Further names count as end-to-end.
inline constexpr std::size_t hop_fields_max = 64;

/// Copies the end-to-end headers, in order and with repetitions. Leaves out Connection and the fields it names,
/// Keep-Alive, Proxy-Connection, Proxy-Authenticate, Proxy-Authorization, TE, Trailer, Transfer-Encoding
/// and Upgrade. Also leaves out Host, Content-Length and Expect, which each hop sets anew.
///
/// The store must see all fields that the gate decides by, so Connection cannot remove these: the tenant header,
/// X-Scope-OrgID, THANOS-TENANT, Content-Type, Content-Encoding, Authorization, X-Prometheus-Remote-Write-Version and
/// Via. Source: RFC 9110, section 7.6.1.
/// @param tenant_header name of the header with the tenant; may be empty.
void copy_end_to_end(const http::fields& from, http::fields& to, std::string_view tenant_header);

void drop_body_digests(http::fields& headers);

/// Approximate memory of a copy, in bytes.
[[nodiscard]] std::size_t bytes_held(const http::fields& headers);

// --- The message.

/// A request as it is written to a backend, possibly several times. Independent of the upstream_request.
struct upstream_message {
    http::request<http::span_body<const char>> http;
    std::shared_ptr<const void> body_owner;
    const store_backend* to;
    std::string query;                   ///< forwarded part of the sender's
    std::string tenant{};                ///< for backends with the tenant in their path
    bool uses_gate_credentials = false;  ///< authenticates the gate, not the sender
    bool keeps_host;                     ///< the sender's Host, see upstream_config::host_header
};

/// @param backend must outlive the message.
upstream_message make_message(const upstream_config& settings, const store_backend& backend,
                              const upstream_request& request);

/// Addresses the message to another backend of the same store.
void readdress(upstream_message& message, const store_backend& backend);

}  // namespace seriesgate
