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
    std::string body;        ///< the handler may take it
    inflight_lease& memory;  ///< what the body takes of server.maxInflightBytes
};

}  // namespace seriesgate
