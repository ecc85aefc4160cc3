/// Health, readiness, figures.
#pragma once

#include <string_view>

#include "http/reply.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// The methods that `path` takes, as the Allow header wants them, or nothing if it is none of ours: /health,
/// /-/healthy, /-/ready, /stats, /metrics ("GET, HEAD"), /-/reload ("POST").
std::string_view admin_methods(std::string_view path);

/// Answers one of these methods on an admin path. Threads: any.
reply handle_admin(std::string_view path, const shared_state& shared);

}  // namespace seriesgate
