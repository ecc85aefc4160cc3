/// Texts for senders and log lines about what was refused, left out, or not stored.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "config/config.hpp"
#include "http/route_table.hpp"
#include "ingest/ingest_logs.hpp"
#include "ingest/ingest_metrics.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "upstream/request.hpp"
#include "upstream/shared_store.hpp"
#include "upstream/upstream_health.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

std::string refused_summary(const plan_counts& decided);

/// Text for the sender: the summary first, then each spent limit with an example.
/// @param planning the planner of `decided`.
/// @return an empty text if the sender should not learn of refusals.
std::string refused_text(const plan& decided, std::string_view tenant, planner& planning, series_limiter& limiter);

/// Text for the sender about data that remote write 1 cannot express. Empty if nothing is lost.
std::string untranslated_text(const translation_loss& lost);

// --- Answers of a store.

/// Why the store gave no answer, in one line: `cannot reach the upstream store:8428: connecting to ...: Connection
/// refused`.
std::string unanswered_line(const upstream_error& error, const upstream_config& upstream);

/// A 502, 503 or 504 in place of the store's answer: the sender keeps the data and retries.
/// @param line from unanswered_line().
reply unanswered_reply(const upstream_error& error, std::string_view line);

/// The store's answer for the sender, without `X-Seriesgate-` headers. An error may repeat what the store was sent. So
/// our credentials and the URL's query arguments are removed from it, and Location headers if the URL has query
/// arguments. A compressed error loses its body if the store has secrets of ours; the gate does not ask for
/// compression.
/// @param tenant_header name of the header.
reply passed_on(upstream_answer answer, std::string_view tenant_header, const store_access& from);

// --- Left-out series: entries that break a rule of remote write.

/// Counts them, and logs each fault.
void note_left_out(const refusing_request& of, ingest_metrics& metrics, left_out_logs& log);

std::string left_out_summary(const plan_counts& decided);

/// Text for the sender: the summary, and for each fault the series count and the first series (metric and label). Empty
/// if nothing was left out.
std::string left_out_text(const plan& decided, planner& planning);

// --- Errors from the store.

/// The shortened parts of a store's answer that a log line shows.
struct store_words {
    std::string text;  ///< first line of the body; empty if the body is compressed
    std::string retry_after;
};

/// Leaves out our credentials and the query arguments of backend URLs, since a store may repeat them.
store_words said_by_store(const reply& answer, const store_access& store);

/// What senders do after this status: `retry`, or `drop`, which loses the data.
std::string_view senders_then(unsigned status) noexcept;

/// Log fields of an error answer, with one request as an example. They point into the arguments.
/// @param status the store's. @param words from said_by_store().
/// @param sender its address; may be empty. @param tenant as the sender named it; may be empty.
std::array<log::field, 7> describe_store_error(unsigned status, const store_words& words, std::uint64_t requests,
                                               std::string_view sender, std::string_view tenant);

}  // namespace seriesgate
