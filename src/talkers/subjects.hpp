/// What may have exploded: metrics, and tenants as a whole, with what is new and what is refused of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "talkers/talker_tables.hpp"

namespace seriesgate {

/// What targets are told apart by: a label of the scrape, and one of Kubernetes.
inline constexpr std::array<std::string_view, 2> target_labels{"instance", "pod"};

/// A metric with what is new and what is refused of it. The tables that it is of outlive it.
struct subject {
    const talker* name = nullptr;
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
std::vector<subject> metrics_of(const talker_tables& taken, const talker_tables& refused);
/// The same of tenants, with all metrics of each as one, which has no name.
std::vector<subject> tenants_of(const talker_tables& taken, const talker_tables& refused);

/// Whoever has at least half of the series; null if nobody has.
const talker* main_of(const space_saving& of, std::uint64_t series);

}  // namespace seriesgate
