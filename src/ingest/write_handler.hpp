/// The ingestion paths: the story of the product.
#pragma once

#include <string_view>

#include "http/inflight.hpp"
#include "http/reply.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// One remote-write request as it came. Everything outlives the handler.
struct write_request {
    const http::fields& headers;
    std::string_view query;  ///< without '?'
    bytes_view body;
    inflight_lease& memory;
};

/// Decodes, decides, forwards and answers. Never throws for what a sender or the upstream does.
/// Threads: the worker's.
net::awaitable<reply> handle_write(write_request request, worker& self);

/// An answer to a request that is turned away, counted under its reason.
reply rejection(gate_metrics& metrics, reject_reason reason, unsigned status, std::string_view line);

/// The answer when maxInflightBytes is reached: the sender keeps the data and comes again.
reply overloaded(gate_metrics& metrics);

}  // namespace seriesgate
