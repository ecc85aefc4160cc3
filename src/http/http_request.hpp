/// A request that has been read to its end, as its handler gets it.
#pragma once

#include <string>
#include <string_view>

#include "http/inflight.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

/// What it refers to lives until the handler has ended.
struct http_request {
    const http::fields& headers;  ///< as they were before the body: no trailer is among them
    std::string_view query;       ///< without '?'
    bool is_head = false;
    std::string body;                    ///< the handler may take it
    inflight_lease& memory;              ///< what the body takes of server.maxInflightBytes
    std::string_view sender{};           ///< its address, or "unix"; empty if it has gone
    std::string_view user{};             ///< who it proved to be; empty: nobody in particular
    std::string_view tenant{};           ///< whose request it is: that of the user, or else as the header names it
    bool tenant_is_bound = false;        ///< by the user, whatever the header says
    bool authorization_is_ours = false;  ///< the Authorization header was meant for the gate
};

/// The tenant that the headers name; the empty one without the header.
inline std::string_view tenant_of(const http::fields& headers, std::string_view tenant_header) {
    const auto found = headers.find(tenant_header);
    return found == headers.end() ? std::string_view{} : std::string_view{found->value()};
}

}  // namespace seriesgate
