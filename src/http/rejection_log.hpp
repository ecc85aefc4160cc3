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

/// At most one line in ten seconds for each reason. Threads: any.
class rejection_log {
    std::array<sparse_log, counter_by<reject_reason>::size> logs_{};

  public:
    /// @return the requests since the last line, if a line is due now: the caller then writes it. Nothing for requests
    /// that were taken but for what was refused of them, or not translated: who decides that has a line of its own.
    std::optional<std::uint64_t> count(reject_reason reason,
                                       std::chrono::steady_clock::time_point now = monotonic_clock::now()) noexcept;

    /// Requests for this reason that nobody has been told of, if a line about them is due now.
    std::optional<std::uint64_t> rest(reject_reason reason,
                                      std::chrono::steady_clock::time_point now = monotonic_clock::now()) noexcept;
};

/// Says how many requests there were behind the last lines, when it is due: call it now and then.
void tell_rest(rejection_log& of);

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
    sparse_log lines_{};

  public:
    /// Says what is new, now and then: call it after what may have closed some, and every now and then.
    void tell(const http_metrics& metrics);
};

}  // namespace seriesgate
