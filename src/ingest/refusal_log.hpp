/// Counts and logs refusals by limits; answers to rejected requests; overdue log lines of ingestion.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/route_table.hpp"
#include "ingest/ingest_metrics.hpp"
#include "ingest/ingest_shared.hpp"
#include "ingest/sender_texts.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

void log_refusals(const refusing_request& of, ingest_logs& logs);
void count_refusals(const refusing_request& of, ingest_metrics& metrics);

// --- Answers to rejected requests.

/// For a body that does not decode, or exceeds a bound of the decoder.
reply malformed(const wire_error& error);

/// For a body that cannot be decompressed. @param decoded_bytes_max server.maxDecodedBytes
reply undecodable(const wire_error& error, std::uint64_t decoded_bytes_max);

// --- Overdue log lines.

/// Logs the events that no line has reported yet, where a line is due; otherwise only the first event of a burst would
/// be logged. Call it every second. Threads: any.
void tell_rest(ingest_shared& of);

void tell_unconfirmed(const lost_log::news& news, const upstream_config& upstream);

/// @param sender address of the last request's sender. @param tenant as that sender named it; may be empty.
void tell_partly_written(const lost_log::news& news, std::string_view sender, std::string_view tenant,
                         const upstream_config& upstream);

}  // namespace seriesgate
