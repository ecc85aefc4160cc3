/// Of the metrics with the most series: which labels have how many values, and who sends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/state_stream.hpp"
#include "filter/distinct_sketch.hpp"
#include "series/fingerprint.hpp"
#include "series/label.hpp"
#include "talkers/space_saving.hpp"

namespace seriesgate {

/// A label of one metric.
struct watched_label {
    std::string name{};
    std::uint64_t key = 0;        ///< hash of the name
    std::uint64_t series = 0;     ///< that have it,
    std::uint64_t error = 0;      ///< or at most so many fewer
    std::uint64_t looked_at = 0;  ///< of them, see thinning.hpp
    small_sketch values{};        ///< of those that were looked at
};

/// Of one metric, what its series look like.
struct watched_metric {
    static constexpr std::size_t labels_max = 24;
    static constexpr std::size_t names_max = 8;

    std::vector<watched_label> labels{};  ///< those that most series have; without the metric's name
    space_saving jobs{names_max};
    space_saving senders{names_max};

    void merge(const watched_metric& other);
    void save(state_encoder& out) const;
    void load(state_decoder& in);
};

/// How many different values a label has.
struct value_count {
    std::uint64_t values = 0;  ///< the estimate
    std::uint64_t least = 0;   ///< but for the errors of a sketch it is between these two
    std::uint64_t most = 0;
    bool is_exact = false;  ///< they were few, and all were looked at
};
/// Of D values with k series each, a part 1 - (1 - p)^k is among a part p of the series: that is solved for D. Right
/// but for the error of the sketch where all series were looked at, where each series has a value of its own, and where
/// there are few values; elsewhere as right as values have the same number of series.
/// @param seen the sketch's estimate. @param looked_at of so many @param series.
value_count estimate_values(std::uint64_t seen, std::uint64_t looked_at, std::uint64_t series);
/// The same of a label.
/// @param scale to the number of series that the metric has, where somebody knows it better: those that were looked at
/// stand for so many times more.
value_count count_values(const watched_label& label, double scale = 1);

/// The same is done with all metrics of a tenant as one, without a name: see talker_tables.
/// Threads: one at a time.
class watched_metrics {
    space_saving metrics_;
    std::vector<watched_metric> watched_{};  // by place

  public:
    /// Some 50 KiB each at worst.
    static constexpr std::size_t metrics_max = 48;
    static constexpr std::size_t tenants_max = 16;

    /// @param most of them, those with the most series.
    explicit watched_metrics(std::size_t most) : metrics_(most) {}

    /// A series as it is looked at.
    struct looked_at {
        talker_name metric{};
        std::span<const label_view> labels{};
        talker_name job{}, sender{};  ///< without a value: it has none
        std::uint64_t weight = 1;     ///< for how many series it stands
    };
    void note(const looked_at& series, const hash_key& hash, time_point now);

    /// By place, as watched().
    [[nodiscard]] std::span<const talker> metrics() const noexcept { return metrics_.all(); }
    [[nodiscard]] const watched_metric& watched(std::size_t place) const noexcept { return watched_[place]; }

    void merge(const watched_metrics& other);
    void clear() noexcept;

    void save(state_encoder& out) const;
    void load(state_decoder& in);
};

}  // namespace seriesgate
