/// Log lines about rejected requests and about connections closed at a bound.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "http/http_metrics.hpp"
#include "http/route_table.hpp"

namespace seriesgate {

/// At most one line in ten seconds per reason.
using rejection_logs = throttled_logs<reject_reason>;

/// Whether ingestion logs this reason itself: the gate accepted the request, except for part of its data.
bool is_logged_by_ingestion(reject_reason reason) noexcept;

/// Logs the number of requests not logged so far, if due. Call it every second.
void tell_rest(rejection_logs& of);

/// The log fields: the number of requests, and one request as an example. They point into the arguments.
/// @param answer must have a reason.
/// @param peer,user,tenant may be empty; `user` is proven or only claimed.
std::array<log::field, 7> describe_rejection(const reply& answer, std::uint64_t requests, std::string_view peer,
                                             std::string_view user, std::string_view tenant);

/// Cuts a tenant's name to its length in a log line.
std::string_view shown_tenant(std::string_view tenant) noexcept;

/// Logs connections closed or turned away at a bound. Threads: the acceptor thread.
class closings_log {
    std::uint64_t told_ = 0;
    throttled_log lines_{};

  public:
    /// Logs new ones, throttled. Call it after each accept, and every second.
    void tell(const http_metrics& metrics);
};

}  // namespace seriesgate
