/// What is said of a request of which not everything goes on, to its sender and in the log.
#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "http/route_table.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "upstream/request.hpp"
#include "upstream/store_access.hpp"
#include "upstream/upstream_health.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

class series_limiter;

/// `refused 3 new series (5 samples)`
std::string refused_summary(const plan_counts& decided);

/// For the sender: the summary, the limits that are spent, and an example for each. The first line says the essence.
/// @param planning of the plan.
/// @return nothing if the sender is to be told of no refused series.
std::string refused_text(const plan& decided, std::string_view tenant, planner& planning, series_limiter& limiter);

/// For the sender: what a store of remote write 1 would not have. Empty if nothing is lost.
std::string untranslated_text(const translation_loss& lost);

// --- What is said in a store's place, and what goes on of what it says itself.

/// Why there is no answer, in one line: `cannot reach the upstream store:8428: connecting to ...: Connection refused`.
std::string unanswered_line(const upstream_error& error, const upstream_config& upstream);

/// The answer in place of the store's: the sender keeps the data and comes again.
/// @param line as above.
reply unanswered_reply(const upstream_error& error, std::string_view line);

/// A store's answer as the sender gets it, without headers that are the gate's own (`X-Seriesgate-`). An error may
/// repeat what the store was asked with: of what is ours in that, credentials and the arguments of the URL, nothing
/// goes on, and no Location of a URL that has arguments. A compressed error from a store with secrets of ours, which
/// did not ask for one, goes on without its body.
/// @param tenant_header its name.
reply passed_on(upstream_answer answer, std::string_view tenant_header, const store_access& from);

}  // namespace seriesgate
