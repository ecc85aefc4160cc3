/// What an upstream is asked, and what it answers.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/span_body.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/bytes.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

/// What to send. Headers and query are needed only until it has been made a message; the body's bytes do not change
/// while anybody sends them.
struct upstream_request {
    const http::fields& headers;      ///< the sender's, as they came
    std::string_view tenant_header;   ///< its name
    std::string_view tenant{};        ///< to be named in place of what the header says; empty: as it says
    std::string_view path_tenant{};   ///< whose request it is, for a URL that names the tenant in its path
    bool keeps_authorization = true;  ///< the sender's Authorization header is for the store
    bool for_replica = false;         ///< the sender's Authorization and Cookie are for the first store
    std::string_view query;           ///< what of the sender's query string goes on, without '?'; may be empty
    bytes_view body;
    std::string_view content_type{};      ///< in place of what the headers say; empty: as they say
    std::string_view content_encoding{};  ///< the same
    bool body_changed = false;            ///< not the sender's own bytes
    bool translated = false;              ///< the sender wrote version 2, the body is version 1
    /// Keeps the body's bytes, for several to send them, and for longer than whoever asks. Without it they must outlive
    /// the exchange.
    std::shared_ptr<const void> body_owner{};
};

/// What came back. The body is cut after response_bytes_max.
struct upstream_answer {
    unsigned status = 0;
    http::fields headers;  ///< as they came
    std::string body;
};

/// Stores answer with an empty body or some error lines; senders read 1 KiB of it.
inline constexpr std::size_t response_bytes_max = 256 * 1024;

// --- The fields that a Connection header declares to be of one hop.

/// The names in a message's Connection header, read once, since a look at every list for every line would be quadratic.
/// Views into the message. Threads: one.
/// Source: RFC 9110, section 7.6.1.
class hop_fields {
    std::vector<std::string_view> names_;  // sorted without regard to case; empty for most messages, then nothing is
                                           // allocated

  public:
    /// Real ones have one or two; further names are end-to-end like others that nobody declared.
    static constexpr std::size_t names_max = 64;

    /// @param tenant_header the name of the header that the gate takes the tenant from, or nothing.
    hop_fields(const http::fields& headers, std::string_view tenant_header);

    /// Whether the field may not go on. What decides about a request is never of one hop, whatever Connection says:
    /// the store has to see what the gate has seen. Those are the tenant header, X-Scope-OrgID, THANOS-TENANT,
    /// Content-Type, Content-Encoding, Authorization, X-Prometheus-Remote-Write-Version and Via.
    [[nodiscard]] bool contain(std::string_view name) const;
};

// --- Who a request has come through, and whether it goes in circles.

/// A request passes at most so many gates. One of its names in Via is enough to end a loop through this process; the
/// count ends one through a load balancer before several.
inline constexpr std::size_t gates_max = 4;

/// What this process adds to Via: `1.1 seriesgate-` and a random number of its own.
/// Source: RFC 9110, section 7.6.3: a pseudonym in place of a host name. Threads: any.
std::string_view own_via();

/// Whether the request has been here, or has passed gates_max gates. Linear in the bytes of its Via headers.
bool goes_in_circles(const http::fields& headers);

// --- Which headers go through a proxy.

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

// --- A request as it is written to an upstream.

/// It needs nothing of the upstream_request any more, and may be written several times.
struct upstream_message {
    http::request<http::span_body<const char>> http;
    std::shared_ptr<const void> body_owner;
    const store_backend* to;  ///< whom it is for
    std::string query;        ///< of the sender's, what goes on
    std::string tenant{};     ///< for backends that name it in their path
    bool shows_us = false;    ///< whom the store lets in is us, and not the sender
    bool keeps_host;          ///< the sender's Host, see upstream_config::host_header

    [[nodiscard]] std::size_t body_bytes() const noexcept { return http.body().size(); }
};

/// @param backend must outlive it.
upstream_message make_message(const upstream_config& settings, const store_backend& backend,
                              const upstream_request& request);

/// Makes it one for another backend of the same store.
void readdress(upstream_message& message, const store_backend& backend);

}  // namespace seriesgate
