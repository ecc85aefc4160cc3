/// Keeps a random sample of whole series, so that a rule can be tried before anybody pastes it.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cardinality/space_saving.hpp"
#include "core/state_stream.hpp"
#include "limit/window.hpp"
#include "series/label.hpp"

namespace seriesgate {

struct limit_rules;

/// Longer values may have been cut in their middle.
inline constexpr std::size_t whole_value_max = 1'000;

struct sampled_series {
    std::uint64_t fingerprint = 0;
    series_labels labels{};
    std::string tenant{};
    time_point first_seen{};  ///< time_point::min(): before sampling began
};

/// Takes all series at first. When they are too many, it drops every second one by its fingerprint and skips it from
/// then on. So each of n series is in the sample with the same probability, whatever senders do.
/// Threads: one at a time.
class series_sample {
    boost::unordered_flat_map<std::uint64_t, std::shared_ptr<const sampled_series>> kept_{};
    std::size_t bytes_ = 0;
    unsigned level_ = 0;

  public:
    static constexpr std::size_t series_max = 4'096;
    static constexpr std::size_t bytes_max = 4u << 20;  ///< of labels

    [[nodiscard]] bool leaves_out(std::uint64_t fingerprint) const noexcept {
        return thinning::is_left_out(fingerprint, level_);
    }
    [[nodiscard]] unsigned level() const noexcept { return level_; }

    /// A series in the sample keeps its first state.
    void put(std::uint64_t fingerprint, std::span<const label_view> labels, std::string_view tenant,
             time_point first_seen);
    /// Under load fewer are looked at: see thinning.
    void raise_to(unsigned level);

    [[nodiscard]] std::shared_ptr<const sampled_series> find(std::uint64_t fingerprint) const;
    [[nodiscard]] std::vector<std::shared_ptr<const sampled_series>> all() const;
    [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }

    /// An empty sample for the next hour, with the same level or one less.
    [[nodiscard]] series_sample next() const;

    void save(state_encoder& out) const;
    /// Damaged bytes make the decoder fail and leave any content here.
    void load(state_decoder& in);

  private:
    static std::size_t bytes_of(const sampled_series& one) noexcept;
    void thin_out();
};

/// A copy of all samples, for trying a rule.
struct sampled {
    std::vector<std::shared_ptr<const sampled_series>> known{};    ///< in this hour or the one before
    std::vector<std::shared_ptr<const sampled_series>> refused{};  ///< in this hour
    std::uint64_t weight = 1;                                      ///< series that one of `known` stands for
    std::uint64_t refused_weight = 1;                              ///< the same for `refused`
    /// Series admitted in this hour. More than `known` stands for after a warm start, and in a fleet. 0: unknown.
    std::uint64_t admitted = 0;
    std::vector<std::string> ignored_labels{};   ///< limits cannot select by them
    std::shared_ptr<const limit_rules> rules{};  ///< in force: what a new limit must differ from; null: unknown
};

/// Samples of the running hour and the one before. Threads: one at a time.
class series_samples {
    series_sample before_{}, now_{}, refused_{};

  public:
    /// Whether to sample a known series that returns in this hour. A series left out in the hour before is of unknown
    /// age, so it is skipped.
    [[nodiscard]] bool wants_back(std::uint64_t fingerprint) const noexcept {
        return !before_.leaves_out(fingerprint) && !now_.leaves_out(fingerprint);
    }
    void come_back(std::uint64_t fingerprint, std::span<const label_view> labels, std::string_view tenant);
    /// Samples of admitted and of refused series.
    [[nodiscard]] series_sample& known() noexcept { return now_; }
    [[nodiscard]] series_sample& refused() noexcept { return refused_; }

    /// The level that wants_back() applies.
    [[nodiscard]] unsigned level_back() const noexcept { return std::max(before_.level(), now_.level()); }
    void end_hour();
    [[nodiscard]] sampled all() const;

    void save(state_encoder& out) const;
    void load(state_decoder& in);
};

}  // namespace seriesgate
