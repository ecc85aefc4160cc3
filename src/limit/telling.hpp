/// Fleet: series that the shared store has yet to be told of, because they passed without its answer or because it has
/// lost data. What is untold is a mark in the table, so it needs no memory and survives whatever fails on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "filter/series_table.hpp"
#include "limit/budget.hpp"
#include "limit/window.hpp"

namespace seriesgate {

class series_limiter;

/// A budget by its limit and key, which outlive the budget.
struct named_budget {
    budget_role role;
    std::string key;
};

/// Series to tell of at once, and the budgets that they count in.
struct telling {
    struct series {
        std::uint64_t fingerprint = 0;
        entered_windows windows;
        std::uint32_t budgets = 0;  ///< place in telling::budgets
    };
    window_span hour;
    std::shared_ptr<const compiled_rules> rules{};  ///< whose limits named_budget::role refers to
    std::vector<series> all{};                      ///< those with equal budgets and windows stand together
    std::vector<std::vector<named_budget>> budgets{};
};

/// The functions throw std::bad_alloc if memory runs out; then nothing is forgotten. They need a limiter of scope fleet
/// with a table. Threads: one at a time, beside all others of the limiter.

/// Takes what was noted as untold since the last call.
/// @param noted empty; its capacity decides how many are noted from now on: untold_notes::count_max is meant.
/// @return whether more series are untold than were noted: find_untold() finds them.
bool take_untold(series_limiter& limiter, std::vector<std::uint64_t>& noted);

/// Adds the untold series of one part of the table. @param next as in series_table::visit_some.
/// @return whether there are more parts.
bool find_untold(series_limiter& limiter, std::uint64_t& next, std::vector<std::uint64_t>& found);

/// The same with all series whose budgets are known.
bool find_counted(series_limiter& limiter, std::uint64_t& next, std::vector<std::uint64_t>& found);

enum class tell_kind : std::uint8_t {
    untold,   ///< only the windows that are untold
    refills,  ///< all windows that have the series
};
/// What the store has to be told of some series now; those with nothing to tell are left out.
[[nodiscard]] telling describe(series_limiter& limiter, std::span<const std::uint64_t> fingerprints, tell_kind kind);

/// The store knows them now. What became untold meanwhile stays so.
void mark_told(series_limiter& limiter, const telling& done);

/// The store has lost data: until the next hour ends, this gate tells of series that it has only heard of, when they
/// come. What requests were told before is told to the store again, see fleet_decision::losses.
void tell_all(series_limiter& limiter);
/// How often that was called. Threads: any.
[[nodiscard]] std::uint64_t losses_of(const series_limiter& limiter) noexcept;

/// The store keeps no places any more in this hour; -1: it does. Snapshots have it, because a store that loses its data
/// does not know it. Threads: any.
void note_lapse(series_limiter& limiter, std::int64_t hour) noexcept;
[[nodiscard]] std::int64_t lapsed_hour_of(const series_limiter& limiter) noexcept;

}  // namespace seriesgate
