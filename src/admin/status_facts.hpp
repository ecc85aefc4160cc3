/// What the status page shows, put together at one moment.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/gate_counts.hpp"
#include "admin/stats.hpp"
#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/findings.hpp"
#include "cardinality/refused_ring.hpp"
#include "cardinality/suggestions.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

/// What the gate does for itself.
struct upkeep_facts {
    std::chrono::sys_seconds config_taken_over{};
    bool reload_successful = true;      ///< the last one
    bool web_config_successful = true;  ///< see reload_metrics
    bool keeps_state = false;
    std::optional<std::chrono::sys_seconds> state_saved{};  ///< nothing: not by this process yet
};

/// One line of a table of those with the most series.
struct top_row {
    std::string value{};   ///< as people read it, as all texts here: see readable()
    std::string detail{};  ///< of a sender its User-Agent, of a label its metric
    std::string tenant{};  ///< of a label
    std::uint64_t newly_admitted = 0;
    std::uint64_t refused = 0;
    std::uint64_t error = 0;            ///< by how much these may be wrong
    std::uint64_t distinct_values = 0;  ///< of a label
    bool values_are_exact = true;
    std::uint64_t metrics = 1;  ///< of a label that names targets: so many have it
};

/// Of one hour; at most rows_max, those with the most series first.
struct top_table {
    static constexpr std::size_t rows_max = 8;

    enum class sort : std::uint8_t { metrics, labels, values, senders, tenants };
    sort of = sort::metrics;
    std::string label{};  ///< of values: whose
    std::vector<top_row> rows{};
};

/// A limit that refuses although nothing has exploded, and what would be enough.
struct too_small {
    std::string whose{};  ///< `the global limit`
    window_suggestion hourly{}, daily{};
    std::string yaml{};
};

struct status_facts {
    process_facts process{};
    std::chrono::sys_seconds now{};
    limiter_figures figures{};
    gate_counts counts{};
    upkeep_facts upkeep{};
    std::vector<finding> of_hour{};
    std::vector<finding> of_day{};  ///< those that the hour has not
    sampled samples{};              ///< by which rules are tried
    std::vector<too_small> too_small_limits{};
    std::vector<hour_counts> hours{};
    std::vector<top_table> top{};
    std::vector<std::shared_ptr<const refused_series>> refused{};  ///< the newest first
};

/// Series, or an estimate of how many.
struct series_count {
    std::uint64_t series = 0;
    bool is_exact = true;
};

/// In this hour, by a limit of the hour or of the day; with `mode: observe` those that would be. The one number that is
/// shown for all of them. Two count them, exactly up to the same number: whoever says whose they are, and the limiter,
/// which counts those of hours and of days apart, and not those that the store of a fleet has given no answer about.
series_count refused_now(const status_facts& of) noexcept;
/// In the hours of the day that have ended.
series_count refused_before(const status_facts& of) noexcept;

/// What has exploded in the window, with what is over of it. Of `of` it needs now, figures, counts, samples and hours.
std::vector<finding> explosions_in(cardinality_window window, cardinality_tracker& tracker, const status_facts& of);

/// Fills in what is known of new and refused series: findings, hours, top, refused. Copies some tables, one after the
/// other: a few milliseconds, and a dozen MiB at worst. Threads: any.
void add_cardinality(status_facts& to, cardinality_tracker& tracker, refused_ring& refused);

}  // namespace seriesgate
