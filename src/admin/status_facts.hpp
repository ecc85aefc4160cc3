/// The figures of the status page at one moment.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admin/gate_counts.hpp"
#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/findings.hpp"
#include "cardinality/refused_ring.hpp"
#include "cardinality/suggestions.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

struct process_facts {
    std::string_view version;
    std::chrono::seconds uptime{};
};

/// State of configuration and saved state.
struct upkeep_facts {
    std::chrono::sys_seconds config_taken_over{};
    bool reload_successful = true;
    bool web_config_successful = true;
    bool keeps_state = false;
    std::optional<std::chrono::sys_seconds> state_saved{};  ///< nothing: not yet by this process
};

/// A row of a table of the names with most series.
struct top_row {
    std::string value{};   ///< readable, like all texts here: see readable()
    std::string detail{};  ///< a sender's User-Agent, or a label's metric
    std::string tenant{};  ///< of a label
    std::uint64_t newly_admitted = 0;
    std::uint64_t refused = 0;
    std::uint64_t error = 0;            ///< bound of the error of both counts
    std::uint64_t distinct_values = 0;  ///< of a label
    bool values_are_exact = true;
    std::uint64_t metrics = 1;  ///< how many metrics have it, for a label that names targets
};

/// Of one hour; at most rows_max rows, those with most series first.
struct top_table {
    static constexpr std::size_t rows_max = 8;

    enum class sort : std::uint8_t { metrics, labels, values, senders, tenants };
    sort of = sort::metrics;
    std::string label{};  ///< whose values, in a table of values
    std::vector<top_row> rows{};
};

/// A limit that refuses without an explosion, and a limit that would do.
struct too_small {
    std::string whose{};  ///< for example `the global limit`
    window_suggestion hourly{}, daily{}, active{};
    std::string yaml{};
};

struct status_facts {
    process_facts process{};
    std::chrono::sys_seconds now{};
    limiter_figures figures{};
    gate_counts counts{};
    upkeep_facts upkeep{};
    std::vector<finding> of_hour{};   ///< at most findings_max, as of_day
    std::vector<finding> of_day{};    ///< without those of of_hour
    std::set<std::string> growing{};  ///< tenants with refused series that no explosion explains, of all findings
    sampled samples{};
    std::vector<too_small> too_small_limits{};
    std::vector<hour_counts> hours{};
    std::vector<top_table> top{};
    std::vector<std::shared_ptr<const refused_series>> refused{};  ///< newest first
};

struct series_count {
    std::uint64_t series = 0;
    bool is_exact = true;
};

/// Series refused in this hour by limits of the hour or the day; with `mode: observe` those that would be. The page
/// shows this number everywhere. Two sources count it, exactly up to the same number: the cardinality tables and the
/// limiter. The limiter counts hour and day separately, and no series without an answer of a fleet's store.
series_count refused_now(const status_facts& of) noexcept;
/// In the day's completed hours.
series_count refused_before(const status_facts& of) noexcept;

/// The explosions in the window, with those that have ended. Uses now, figures, counts, samples and hours of `of`.
std::vector<finding> explosions_in(cardinality_window window, cardinality_tracker& tracker, const status_facts& of);

/// Fills in findings, hours, top and refused. Copies some tables, one after the other: takes a few milliseconds, and a
/// dozen MiB at worst. Threads: any.
void add_cardinality(status_facts& to, cardinality_tracker& tracker, refused_ring& refused,
                     const std::vector<std::string>& ignored_labels);

}  // namespace seriesgate
