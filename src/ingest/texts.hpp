/// Texts for senders and logs: refused and untranslated series, errors of the upstream.
#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "http/route_table.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "upstream/request.hpp"
#include "upstream/shared_store.hpp"
#include "upstream/upstream_health.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

class series_limiter;

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

}  // namespace seriesgate
