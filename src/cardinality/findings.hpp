/// Finds what has exploded.
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

// --- What may have exploded: metrics, and tenants as a whole, with what is new and what is refused of them.

/// What targets are told apart by: a label of the scrape, and one of Kubernetes.
inline constexpr std::array<std::string_view, 2> target_labels{"instance", "pod"};

/// A metric with what is new and what is refused of it. The tables that it is of outlive it.
struct subject {
    const top_entry* name = nullptr;
    std::uint64_t series = 0, refused = 0;
    bool is_exact = true;  // these two are no estimates
    time_point since{}, last{};
    std::uint64_t series_watched = 0;  // by what was looked at label by label
    watched_metric watched{};

    [[nodiscard]] value_count values(const watched_label& label) const {
        return count_values(label, static_cast<double>(series) / static_cast<double>(series_watched));
    }
    [[nodiscard]] std::uint64_t values(std::string_view label) const {
        const auto found = std::ranges::find(watched.labels, label, &watched_label::name);
        return found == watched.labels.end() ? 0 : values(*found).values;
    }
    /// How many have the label.
    [[nodiscard]] std::uint64_t series_with(const watched_label& label) const {
        const double scale = static_cast<double>(series) / static_cast<double>(series_watched);
        return static_cast<std::uint64_t>(std::llround(static_cast<double>(label.series - label.error) * scale));
    }
    /// The label that tells targets apart, the one with the most values; null if there is none.
    [[nodiscard]] const watched_label* new_targets() const {
        const watched_label* most = nullptr;
        for (const watched_label& each : watched.labels)
            if (std::ranges::find(target_labels, each.name) != target_labels.end() &&
                (most == nullptr || values(each).values > values(*most).values))
                most = &each;
        return most;
    }
    /// Different targets that its series are of.
    [[nodiscard]] std::uint64_t targets() const {
        const watched_label* const most = new_targets();
        return most == nullptr ? 0 : values(*most).values;
    }
};

/// Those with the most series first.
std::vector<subject> metrics_of(const cardinality_tables& taken, const cardinality_tables& refused);
/// The same of tenants, with all metrics of each as one, which has no name.
std::vector<subject> tenants_of(const cardinality_tables& taken, const cardinality_tables& refused);

/// Whoever has at least half of the series; null if nobody has.
const top_entry* main_of(const space_saving& of, std::uint64_t series);

/// From when on something is an explosion.
struct finding_terms {
    std::uint64_t series_min = 1'000;  ///< in the window
    std::uint64_t values_min = 500;
    std::uint64_t buckets_min = 60;
};

/// The worst first: those with the most series. At most ten; none if nothing has exploded and nothing is refused.
///
/// A label has if it has many values among the series of a metric that are new or refused, and more than new targets
/// would explain: of targets that come anew (`instance`, `pod`) each has the same many metrics, and every label that
/// names the target or a part of it has a few values each. That is churn, and named where series are refused for it.
/// @param taken, refused of one window.
/// @param all what was sampled: says when it began, and in which metrics and jobs. Without it the tables say so.
std::vector<finding> find_explosions(const cardinality_tables& taken, const cardinality_tables& refused,
                                     const finding_terms& terms = {}, const sampled& all = {});

/// When samples were last refused, of whatever series.
struct watched_refusals {
    time_point watched_since{};
    std::optional<time_point> last{};  ///< nothing: not since then
};
/// Senders come at least as often.
inline constexpr std::chrono::minutes over_after{5};

/// Says of what nothing has come for over_after that it is over, and puts it behind the others. A series that is
/// refused again and again is new once only: so what is refused in part goes on as long as anything is refused.
void mark_over(std::vector<finding>& all, time_point now, const watched_refusals& refusals);

}  // namespace seriesgate
