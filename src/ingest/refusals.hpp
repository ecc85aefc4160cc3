/// What limits have refused, or would have: counted, and said in the log now and then.
#pragma once

#include <string_view>

#include "ingest/ingest_logs.hpp"
#include "ingest/ingest_metrics.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"

namespace seriesgate {

class series_limiter;

/// A request of which something was refused, or would have been.
struct refusing_request {
    const plan& decided;
    std::string_view tenant;
    planner& planning;  ///< of the plan
    series_limiter& limiter;
};

/// Lines, for each limit that has one due.
void log_refusals(const refusing_request& of, ingest_logs& logs);

/// What no line has said so far, where that is due.
void log_further_refusals(ingest_logs& logs);

/// Samples by limit and tenant.
void count_refusals(const refusing_request& of, ingest_metrics& metrics);

}  // namespace seriesgate
