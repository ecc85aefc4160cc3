/// Who is rejected, and why, in the log.
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

/// One line in ten seconds for each reason.
using rejection_logs = throttled_logs<reject_reason>;

/// Whether ingestion logs it: the request was taken, but for some of what it held.
bool is_logged_by_ingestion(reject_reason reason) noexcept;

/// Logs how many requests there were behind the last lines, when that is due. Call it every second.
void tell_rest(rejection_logs& of);

/// The fields of the line: how many, and one of them as an example. They point at what is passed.
/// @param answer has a reason.
/// @param peer where the sender is; empty if it has gone.
/// @param user who it is, or claims to be; may be empty.
/// @param tenant of the user, or as the sender named it; may be empty.
std::array<log::field, 7> describe_rejection(const reply& answer, std::uint64_t requests, std::string_view peer,
                                             std::string_view user, std::string_view tenant);

/// As much of a tenant's name as a line shows.
std::string_view shown_tenant(std::string_view tenant) noexcept;

// --- That connections are closed for others, in the log.

/// Knows how many the log has been told of. Threads: one, the front desk's.
class closings_log {
    std::uint64_t told_ = 0;
    throttled_log lines_{};

  public:
    /// Says what is new, now and then: call it after what may have closed some, and every now and then.
    void tell(const http_metrics& metrics);
};

}  // namespace seriesgate
