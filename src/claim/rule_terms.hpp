/// What a gate's rules mean to the store, but for what it says with each series.
#pragma once

#include "claim/claim.hpp"
#include "claim/reserve.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

/// The terms that depend on the rules alone: claim_terms::hour and buckets are left open.
claim_terms terms_of(const compiled_rules& rules);

/// The same of a gate whose claims leave shares alone (reserve.hpp): what others count by other reserves differs, as it
/// does by other maxima.
claim_terms with_reserve(claim_terms terms, reserve_parts reserve);

/// Differs when other series would be counted in other budgets. Maxima do not matter, but whether there are any: what
/// does not limit is not counted in the store.
std::uint64_t rules_identity(const compiled_rules& rules);

/// Differs when a maximum does, too.
std::uint64_t all_rules_identity(const compiled_rules& rules);

}  // namespace seriesgate
