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
#include "limit/figures.hpp"
#include "talkers/findings.hpp"
#include "talkers/past_hours.hpp"
#include "talkers/refused_ring.hpp"
#include "talkers/talkers.hpp"

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
    std::uint64_t arrived = 0;
    std::uint64_t refused = 0;
    std::uint64_t error = 0;            ///< by how much these may be wrong
    std::uint64_t distinct_values = 0;  ///< of a label
};

/// Of one hour; at most rows_max, those with the most series first.
struct top_table {
    static constexpr std::size_t rows_max = 8;

    enum class sort : std::uint8_t { metrics, labels, values, senders, tenants };
    sort of = sort::metrics;
    std::string label{};  ///< of values: whose
    std::vector<top_row> rows{};
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
    std::vector<hour_counts> hours{};
    std::vector<top_table> top{};
    std::vector<std::shared_ptr<const refused_series>> refused{};  ///< the newest first
};

/// In this hour, by a limit of the hour or of the day; with `mode: observe` those that would be. As counted by who is
/// who, and so as findings and the chart say: right to the last one while there are few, see talkers.
std::uint64_t refused_now(const status_facts& of) noexcept;
/// In the hours of the day that have ended.
std::uint64_t refused_before(const status_facts& of) noexcept;

/// Fills in what is known of new and refused series: findings, hours, top, refused. Copies some tables, one after the
/// other: a few milliseconds, and a dozen MiB at worst. Threads: any.
void add_culprits(status_facts& to, talkers& who, refused_ring& refused);

}  // namespace seriesgate
