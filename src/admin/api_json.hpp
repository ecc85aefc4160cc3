/// The answers of /api/v1 as JSON, with the keys of docs/api.md. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "admin/api_question.hpp"
#include "admin/status_facts.hpp"
#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/refused_ring.hpp"
#include "cardinality/suggestions.hpp"
#include "limit/explain.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

// --- GET /api/v1/explain.

class series_limiter;

/// @param found nothing if the rules would take too long.
std::string explain_json(const series_limiter& limiter, const series_labels& series, std::string_view tenant,
                         const std::optional<explanation>& found);

// --- GET /api/v1/suggestions.

/// @param rules by which the suggestions were made.
std::string suggestions_json(const suggestion_list& list, const limit_rules& rules);

// --- GET /api/v1/top, findings and refused.
///
/// @param of see explosions_in.
std::string top_json(cardinality_tracker& tracker, const api_question& asked);
std::string findings_json(cardinality_tracker& tracker, const api_question& asked, const status_facts& of);
std::string refused_json(refused_ring& refused, const api_question& asked);

}  // namespace seriesgate
