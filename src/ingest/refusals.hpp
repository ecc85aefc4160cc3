/// What limits have refused, or would have: counted, and said in the log now and then.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/route_table.hpp"
#include "ingest/ingest_logs.hpp"
#include "ingest/ingest_metrics.hpp"
#include "ingest/stores.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "wire/wire_error.hpp"

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

// --- The answers to requests that are rejected for what they are.

/// What does not decode, or is over a bound of the decoder.
reply malformed(const wire_error& error);

/// What cannot be decompressed. @param decoded_bytes_max server.maxDecodedBytes
reply undecodable(const wire_error& error, std::uint64_t decoded_bytes_max);

reply unsupported_media(std::string_view fault);

/// A 5xx, so that the sender keeps the data until someone has mended the upstream's address.
reply looped();

// --- What happened behind the last lines of the log.

/// Says how many requests there were that no line has counted so far, where that is due: of a burst the first alone
/// would be told. Call it every second. Threads: any.
void tell_rest(ingest_shared& of);

/// The line about what the upstream does not confirm.
void tell_unconfirmed(const lost_log::news& news, const upstream_config& upstream);

/// The line about what the upstream has written less of.
/// @param sender its address, of the last request. @param tenant as that sender named it; may be empty.
void tell_partly_written(const lost_log::news& news, std::string_view sender, std::string_view tenant,
                         const upstream_config& upstream);

}  // namespace seriesgate
