/// Counts and writes the log lines of ingestion.
#pragma once

#include <string_view>

#include "config/config.hpp"
#include "ingest/ingest_logs.hpp"
#include "ingest/ingest_metrics.hpp"
#include "ingest/ingest_shared.hpp"

namespace seriesgate {

// --- Refusals by limits.

void log_refusals(const refusing_request& of, ingest_logs& logs);
void count_refusals(const refusing_request& of, ingest_metrics& metrics);

// --- Overdue log lines.

/// Logs the events that no line has reported yet, where a line is due; otherwise only the first event of a burst would
/// be logged. Call it every second. Threads: any.
void tell_rest(ingest_shared& of);

void tell_unconfirmed(const lost_log::news& news, const upstream_config& upstream);

/// @param sender address of the last request's sender. @param tenant as that sender named it; may be empty.
void tell_partly_written(const lost_log::news& news, std::string_view sender, std::string_view tenant,
                         const upstream_config& upstream);

}  // namespace seriesgate
