/// Explains refusals: which budgets have no room for a series, and what would be decided about it now.
#pragma once

#include <chrono>
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

struct spent_budget {
    budget_figures figures;
    refusing_window window = refusing_window::hourly;
};

/// The budget in which one limit counts a series, full or not, or would. Nothing if the limit no longer exists.
/// Threads: any.
std::optional<budget_figures> budget_of(series_limiter& limiter, limit_number limit, std::span<const label_view> labels,
                                        std::string_view tenant);

/// The budgets that would refuse this series now, hourly ones first. Empty if there is room, or if evaluating the rules
/// would cost too much. Threads: any.
/// @param work left to evaluate rules with, as rule_work_max; made less.
std::vector<spent_budget> explain(const series_limiter& limiter, const offered_series& series,
                                  std::span<const label_view> labels, std::string_view tenant, std::uint64_t& work);

struct applying_budget {
    limit_number limit = global_limit;
    budget_figures figures;
    bool exists = true;  ///< false: no series of the group was ever admitted
    in_windows spent;    ///< windows without room for this series
    // Series of the same standing that would find room; nothing: not limited.
    std::optional<std::uint64_t> hourly_room{};
    std::optional<std::uint64_t> daily_room{};
    std::optional<std::uint64_t> active_room{};
};

/// All that is known about a series, and the decision if it came now.
struct explanation {
    window_span hour{};
    window_span day{};
    // Which sets contain it, up to a false positive.
    bool in_hour = false;  ///< then it is known, and accepted without any check
    bool in_day = false;
    std::optional<bool> in_hour_before{};                 ///< nothing: that hour was not observed
    std::optional<bool> is_active{};                      ///< nothing: active series are not counted
    std::optional<std::chrono::sys_seconds> last_seen{};  ///< the minute; nothing: never, or the gate does not know
    double false_positive_rate = 0;                       ///< current rate of the hour's set
    std::optional<refusal> refused_lately{};              ///< a remembered refusal, applied without asking the budgets
    bool exempt = false;                                  ///< by the rules
    bool beyond_exemption = false;                        ///< exempt, but other limits decide: see admission.hpp
    bool is_incumbent = false;                            ///< has room reserved
    bool asks_store = false;  ///< fleet: the store decides; this shows only this gate's counts
    bool whole_histograms = false;
    std::vector<applying_budget> budgets{};
    /// The decision if the series is not known; nothing: admitted.
    std::optional<refusal> refused{};
    bool with_histogram = false;  ///< refused because its histogram was
    in_windows completing{};      ///< windows that admit it without room, to complete its histogram
    bool in_histogram = false;    ///< belongs to a histogram that is kept whole
    in_windows histogram_begun{};
};

/// Changes nothing. @return nothing if evaluating the rules would cost too much. Threads: any.
std::optional<explanation> explain_series(const series_limiter& limiter, const offered_series& series,
                                          const histogram_family& family, std::span<const label_view> labels,
                                          std::string_view tenant);

// --- Budgets as text for people.

/// `maxHourlySeries 10000 is spent (10000 series admitted)`, preceded by the owner unless the budget is global: `tenant
/// "team-a": ...`, `limit per-namespace{namespace="x"}: ...`.
std::string to_text(const spent_budget& spent);

/// Why a budget that is not full has no room, to stand behind its text: `, and the rest is kept for series of the hour
/// before`. Empty for a full one.
std::string_view rest_text(const spent_budget& spent) noexcept;

/// The owner: `tenant "team-a"`, `limit per-namespace{namespace="x"} of tenant "team-a"`; empty for the global budget.
std::string owner_text(const budget_name& name);

/// `{namespace="x"}`, cut to about 256 bytes; empty if the limit has no groups.
std::string cut_group_text(const budget_name& name);

/// The same, uncut, so that different groups never look equal. Keys of groups with their own budget are short
/// (group_key_bytes_max).
std::string group_text(const budget_name& name);

/// Says that an overflow budget is shared, and why. Empty for all others.
std::string_view note_on(const budget_name& name) noexcept;

std::string_view to_text(refusing_window window) noexcept;

/// `enforce` or `observe`, as in the configuration.
std::string_view to_text(limit_mode mode) noexcept;

}  // namespace seriesgate
