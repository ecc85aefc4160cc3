/// What is to become of one request: what goes upstream, what is left out, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "plan/forwarding.hpp"
#include "plan/plan_counts.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// The entry of a series that was left out, or let through by a limit that only observes; for the log and the sender.
struct refused_entry {
    std::size_t entry = 0;  ///< for planner::labels
    byte_range record;
    offered_series series;
    verdict reason = verdict::refused_hourly;
    limit_number limit = global_limit;
};

/// An entry that breaks a rule.
struct left_out_entry {
    byte_range record;
    series_fault fault = series_fault::label_without_name;
};

/// What one limit has refused of a request, or would have.
struct limit_share {
    limit_number limit = global_limit;
    std::uint64_t samples = 0;
    refused_entry first;
};

/// Of these at most the sender is told: enough to name the limits that are spent.
inline constexpr std::size_t told_max = 32;

/// Borrows from its planner, until that goes on to another request or shrinks: keep the counts.
struct plan : plan_counts {
    forwarding forward = forwarding::unchanged;        ///< never translated: that is not the planner's business
    std::span<const byte_range> removed;               ///< ascending, disjoint, within the body
    std::span<const left_out_entry> left_out_entries;  ///< ascending; in removed, too
    std::span<const limit_share> refused_by;           ///< in the order of their first entries
    std::span<const limit_share> observed_by;          ///< by limits that only observe: admitted for all that
    std::span<const limit_share> beyond;               ///< by maxExemptSeries, maxIgnoredValues: they refuse nothing
    std::span<const refused_entry> told;               ///< those to tell the sender of, up to told_max
    std::span<const std::uint32_t> arrived;            ///< see undecided
    std::span<const std::uint32_t> returned;           ///< see undecided
    std::span<const std::uint32_t> turned_away;        ///< see undecided
};

}  // namespace seriesgate
