/// Finds explosions in the cardinality tables and separates them from churn.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cardinality/cardinality_tables.hpp"
#include "cardinality/finding.hpp"
#include "cardinality/series_sample.hpp"

namespace seriesgate {

// --- Candidates: metrics and tenants, with new and refused series together.

/// Labels that identify a target: of a scrape, and of Kubernetes.
inline constexpr std::array<std::string_view, 2> target_labels{"instance", "pod"};

/// New and refused series of a metric. Points into tables, which must outlive it.
struct subject {
    const top_entry* name = nullptr;
    std::uint64_t series = 0, refused = 0;
    bool is_exact = true;  // both numbers are exact
    time_point since{}, last{};
    std::uint64_t series_watched = 0;  // among the series looked at label by label
    watched_metric watched{};

    [[nodiscard]] value_count values(const watched_label& label) const {
        return count_values(label, static_cast<double>(series) / static_cast<double>(series_watched));
    }
    [[nodiscard]] std::uint64_t values(std::string_view label) const {
        const auto found = std::ranges::find(watched.labels, label, &watched_label::name);
        return found == watched.labels.end() ? 0 : values(*found).values;
    }
    [[nodiscard]] std::uint64_t series_with(const watched_label& label) const {
        const double scale = static_cast<double>(series) / static_cast<double>(series_watched);
        return static_cast<std::uint64_t>(std::llround(static_cast<double>(label.series - label.error) * scale));
    }
    /// The target label with the most values; null if there is none.
    [[nodiscard]] const watched_label* new_targets() const {
        const watched_label* most = nullptr;
        for (const watched_label& each : watched.labels)
            if (std::ranges::find(target_labels, each.name) != target_labels.end() &&
                (most == nullptr || values(each).values > values(*most).values))
                most = &each;
        return most;
    }
    /// Distinct targets of its series.
    [[nodiscard]] std::uint64_t targets() const {
        const watched_label* const most = new_targets();
        return most == nullptr ? 0 : values(*most).values;
    }
};

/// By number of series, descending.
std::vector<subject> metrics_of(const cardinality_tables& taken, const cardinality_tables& refused);
std::vector<subject> tenants_of(const cardinality_tables& taken, const cardinality_tables& refused);

/// The entry with at least half of the series; null if none has.
const top_entry* main_of(const space_saving& of, std::uint64_t series);

/// Thresholds of an explosion.
struct finding_terms {
    std::uint64_t series_min = 1'000;  ///< in the window
    std::uint64_t values_min = 500;
    std::uint64_t buckets_min = 60;
};

/// The explosions with the most series first, at most ten; empty if nothing exploded and nothing is refused.
///
/// A label has exploded if it has many values among new or refused series of a metric, and new targets do not explain
/// them. Each new target (`instance`, `pod`) brings the same metrics and a few values of every label that names it or
/// its parts. That is churn, and a finding only if it is refused.
/// @param taken, refused tables of one window.
/// @param all sampled series: show when it began, and its metrics and jobs. Without them the tables do.
std::vector<finding> find_explosions(const cardinality_tables& taken, const cardinality_tables& refused,
                                     const finding_terms& terms = {}, const sampled& all = {});

/// When samples were last refused, of any series.
struct watched_refusals {
    time_point watched_since{};
    std::optional<time_point> last{};  ///< nothing: not since watched_since
};
/// Senders send more often than this.
inline constexpr std::chrono::minutes over_after{5};

/// Marks findings without new series for over_after as over and moves them last. A repeatedly refused series is new
/// only once, so a partly refused finding lasts while anything is refused.
void mark_over(std::vector<finding>& all, time_point now, const watched_refusals& refusals);

}  // namespace seriesgate
