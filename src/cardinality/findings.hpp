/// Findings: each is one explosion of series, with label, metrics, tenant, sender and time; and its sampled series.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cardinality/cardinality_tables.hpp"
#include "cardinality/series_sample.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// The kind of an explosion, or another reason for refusals.
enum class explosion : std::uint8_t {
    label,         ///< a label of some metrics
    buckets,       ///< `le` of a histogram with too many buckets
    metric_names,  ///< metric names that contain the value of a label
    tenants,       ///< too many tenants
    targets,       ///< no explosion: new targets exceed a limit
    growth,        ///< no explosion: more series than a limit allows
};

struct finding {
    explosion what = explosion::label;
    std::string tenant{};
    std::string label{};  ///< `__name__` for metric names; the label with the most values
    /// All labels with about as many values, `label` first.
    std::vector<std::string> labels{};
    /// By number of series; a pattern for metric names (name_pattern()); empty: many metrics.
    std::vector<std::string> metrics{};
    std::uint64_t series = 0;   ///< of these metrics: new or refused
    std::uint64_t refused = 0;  ///< of them
    bool is_exact = true;       ///< both numbers are exact
    value_count values{};
    std::string job{};              ///< the job of at least half of them; else empty
    std::string sender{}, agent{};  ///< the same
    time_point since{};
    time_point last{};  ///< arrival of the last such series
    /// When the explosion ended, see mark_over().
    std::optional<time_point> over_since{};
};

/// One sentence for people, without terminal control characters.
std::string to_text(const finding& found);

// --- Patterns of metric names that contain a label's value.

/// Replaces digits, hashes and UUIDs by `#`: `user_17_requests` and `user_4_requests` become equal.
std::string name_pattern(std::string_view metric);

/// @param pattern of patterns_of().
bool matches_pattern(std::string_view metric, std::string_view pattern);

/// Patterns that many names share: by name_pattern(), or by a word unique to each name (`shop_*_total` for
/// `shop_qkxzv_total` and so on).
std::vector<std::string> patterns_of(const std::vector<std::string_view>& names);

/// @return the first of `patterns` that matches the name, or null.
const std::string* pattern_of(std::string_view metric, const std::vector<std::string>& patterns);

// --- Sampled series in and outside a finding.

/// Points into samples, which must outlive it.
struct exploding_series {
    std::vector<const sampled_series*> exploding{};
    std::vector<const sampled_series*> healthy{};  ///< known, and no part of the explosion
    time_point since{};                            ///< its beginning, if any series explodes
    bool is_certain = false;                       ///< whether `since` is certain
    /// Whether these are enough to be the explosion: of one that is long over the samples have only what came after it.
    bool is_remembered = false;
};
exploding_series split_samples(const finding& found, const sampled& all);

/// The value of a label; empty if it is missing.
std::string_view value_of(const sampled_series& series, std::string_view label);

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

/// So many are shown at once.
inline constexpr std::size_t findings_max = 10;

/// The explosions with the most series first; empty if nothing exploded and nothing is refused.
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
