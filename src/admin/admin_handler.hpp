/// Health, readiness, figures, reload.
#pragma once

#include <string_view>

#include "http/reply.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// The methods that `path` takes, as the Allow header wants them, or nothing if it is none of ours: /health,
/// /-/healthy, /-/ready, /stats, /metrics ("GET, HEAD"), /-/reload ("POST").
std::string_view admin_methods(std::string_view path);

/// Everything outlives the handler.
struct admin_request {
    std::string_view path;   ///< one of ours
    std::string_view query;  ///< without '?'
    bool is_head = false;
};

/// Answers one of these methods on an admin path. Threads: the worker's.
net::awaitable<reply> handle_admin(admin_request request, worker& self);

}  // namespace seriesgate
