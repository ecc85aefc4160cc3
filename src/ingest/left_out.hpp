/// Series entries that break a rule of remote write: left out of their request, so that the others are stored.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/ingest_metrics.hpp"
#include "log/sparse_log.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"

namespace seriesgate {

/// When the log says what was left out: a line in ten seconds for each fault. Threads: any.
class left_out_log {
    std::array<sparse_log, static_cast<std::size_t>(series_fault::count_)> logs_{};

  public:
    /// @return the series since the last line about this fault, if a line is due now: the caller then writes it.
    std::optional<std::uint64_t> count(series_fault fault, std::uint64_t series) noexcept;
    /// Lines about series that no line has counted, where they are due. Call it every second.
    void log_rest();
};

/// Whose request it is.
struct left_out_request {
    const plan& decided;
    planner& planning;  ///< of the plan
    std::string_view sender, tenant;
};

void count_left_out(const plan& decided, ingest_metrics& metrics);
void log_left_out(const left_out_request& of, left_out_log& log);

/// `left out 1 series (1 sample)`
std::string left_out_summary(const plan_counts& decided);

/// For the sender: the summary, and for each fault how many series have it and the first of them, by metric and label.
/// Empty if nothing was left out.
std::string left_out_text(const plan& decided, planner& planning);

}  // namespace seriesgate
