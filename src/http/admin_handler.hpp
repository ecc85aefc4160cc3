/// Health, readiness, figures.
#pragma once

#include <string_view>

#include "http/reply.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// Whether `path` is one of ours: /health, /-/healthy, /-/ready, /stats, /metrics.
bool is_admin_path(std::string_view path);

/// Answers a GET of an admin path. Threads: any.
reply handle_admin(std::string_view path, const shared_state& shared);

}  // namespace seriesgate
