/// What an upstream is asked, and what it answers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

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

}  // namespace seriesgate
