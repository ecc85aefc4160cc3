/// What is to become of one request: what goes upstream, what is left out, and why.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/bytes.hpp"
#include "limit/offered.hpp"
#include "limit/verdict.hpp"
#include "plan/forwarding.hpp"
#include "plan/plan_counts.hpp"

namespace seriesgate {

/// The entry of a series that was left out, for the log and the sender.
struct refused_entry {
    std::size_t entry = 0;  ///< for planner::labels
    byte_range record;
    offered_series series;
    verdict reason = verdict::refused_hourly;
};

/// Of these at most the sender is told: enough to name the limits that are spent.
inline constexpr std::size_t told_max = 32;

/// Borrows from its planner, until that goes on to another request or shrinks: keep the counts.
struct plan : plan_counts {
    forwarding forward = forwarding::unchanged;  ///< never translated: that is not the planner's business
    std::span<const byte_range> removed;         ///< ascending, disjoint, within the body
    std::optional<refused_entry> first_refused;  ///< by a budget
    std::span<const refused_entry> told;         ///< those to tell the sender of, up to told_max
};

}  // namespace seriesgate
