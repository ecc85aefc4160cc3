/// What a gate of a fleet knows without asking, from its limiter and from what it has heard.
#pragma once

#include <cstdint>

#include "claim/fleet_view.hpp"
#include "claim/store_questions.hpp"

namespace seriesgate {

class series_limiter;

/// @param hour since the epoch, that is asked about. Both outlive what is returned.
/// @param accepts_incumbents see gate_session::accepts and fleet_view::accept.
/// @param follows_feed whether the gate knows all series that were granted until a moment ago.
unasked_knowledge knowledge_of(const series_limiter& limiter, const fleet_view& view, std::int64_t hour,
                               bool accepts_incumbents, bool follows_feed);

}  // namespace seriesgate
