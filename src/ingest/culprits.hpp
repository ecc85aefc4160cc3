/// Whose the new and the refused series of a request are, for those who ask later.
#pragma once

#include "ingest/ingest_shared.hpp"
#include "ingest/outgoing.hpp"
#include "plan/planner.hpp"

namespace seriesgate {

/// Leaves them to `shared.noted`. Nothing is done about a request that has neither.
/// @param planning what `request` was planned with; its labels() is used.
void note_culprits(const decided_request& request, planner& planning, ingest_shared& shared);

}  // namespace seriesgate
