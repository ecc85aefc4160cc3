/// Why a series is refused, and what would be decided about it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limit/figures.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

/// A budget without room for a series.
struct spent_budget {
    budget_figures figures;
    refusing_window window = refusing_window::hourly;
};

/// The budget in which one limit counts a series, spent or not. Nothing if there is none: the limit has gone, or no
/// series of the group was ever admitted. Threads: any.
std::optional<budget_figures> budget_of(series_limiter& limiter, limit_number limit, std::span<const label_view> labels,
                                        std::string_view tenant);

/// Why a series that was refused would be refused now: the budgets without room for it, those of the hour first.
/// Nothing if there is room, or if the rules would take too long to say. Threads: any.
std::vector<spent_budget> explain(series_limiter& limiter, const offered_series& series,
                                  std::span<const label_view> labels, std::string_view tenant);

/// One of the budgets that apply to a series.
struct applying_budget {
    limit_number limit = global_limit;
    budget_figures figures;
    bool exists = true;  ///< false: none of its series was ever admitted, and it counts nothing
    in_windows spent;    ///< where it has no room for this series
    // So many series with the same standing would find room; nothing where it does not limit.
    std::optional<std::uint64_t> hourly_room{};
    std::optional<std::uint64_t> daily_room{};
};

/// All that is known of a series, and what would be decided if it came now.
struct explanation {
    window_span hour{};
    window_span day{};
    // In which sets it is, up to a false positive.
    bool in_hour = false;  ///< then it is known: accepted, without asking anything else
    bool in_day = false;
    std::optional<bool> in_hour_before{};     ///< nothing: that hour was not seen
    double false_positive_rate = 0;           ///< of the hour's set, now
    std::optional<refusal> refused_lately{};  ///< it is refused again by this, without asking the budgets
    bool exempt = false;                      ///< the rules say so
    bool beyond_exemption = false;            ///< and it is decided as others are, see admission.hpp
    bool is_incumbent = false;                ///< room is kept for it
    bool asks_store = false;  ///< in a fleet: its store decides, and what is said here is what this gate knows
    bool whole_histograms = false;
    std::vector<applying_budget> budgets{};
    /// What would be decided if it is not known; nothing: it would be admitted.
    std::optional<refusal> refused{};
    bool with_histogram = false;  ///< refused because its histogram was
    in_windows completing{};      ///< admitted there without room, since its histogram has begun
    bool in_histogram = false;    ///< part of one that is kept whole
    in_windows histogram_begun{};
};

/// Changes nothing. @return nothing if the rules would take too long to say. Threads: any.
std::optional<explanation> explain_series(const series_limiter& limiter, const offered_series& series,
                                          const histogram_family& family, std::span<const label_view> labels,
                                          std::string_view tenant);

// --- Budgets as people read them.

/// `maxHourlySeries 10000 is spent (10000 series admitted)`, with whose limit it is in front when it is not the global
/// one: `tenant "team-a": ...`, `limit per-namespace{namespace="x"}: ...`.
std::string to_text(const spent_budget& spent);

/// Whose it is: `tenant "team-a"`, `limit per-namespace{namespace="x"} of tenant "team-a"`; empty for the global one.
std::string owner_text(const budget_name& name);

/// `{namespace="x"}`, cut to about 256 bytes; empty if the limit has no groups.
std::string cut_group_text(const budget_name& name);

/// The same, whole: two groups that differ never look the same. A group with a budget of its own is short
/// (budget_table.cpp).
std::string group_text(const budget_name& name);

/// What has to be known of it beside its name: that many share it, and why. Empty for all others.
std::string_view note_on(const budget_name& name) noexcept;

/// `hourly` or `daily`.
std::string_view to_text(refusing_window window) noexcept;

/// `enforce` or `observe`, as in the configuration.
std::string_view to_text(limit_mode mode) noexcept;

}  // namespace seriesgate
