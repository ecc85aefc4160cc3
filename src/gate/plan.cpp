#include "gate/plan.hpp"

#include <algorithm>

namespace seriesgate {
namespace {

/// Tenants will have seeds of their own; without them there is one name space.
constexpr std::uint64_t seed = 0;

}  // namespace

result<plan, wire_error> planner::operator()(bytes_view body, admission& limits, time_point now) {
    const auto metadata = read(body);
    if (!metadata) return metadata.error();
    verdicts_.resize(offered_.size());
    limits.decide(offered_, now, verdicts_, scratch_);
    return collect(*metadata);
}

/// The whole request is read before anything is decided: a malformed one must change nothing.
result<std::uint32_t, wire_error> planner::read(bytes_view body) {
    offered_.clear();
    entries_.clear();
    reader_.reset(body);
    while (reader_.next()) {
        const series_view& series = reader_.series();
        offered_.push_back({.fingerprint = fingerprint_(series, seed),
                            .samples = series.samples + series.histograms,
                            .admits = series.admits});
        entries_.push_back({.record = series.record, .histograms = series.histograms, .exemplars = series.exemplars});
    }
    if (reader_.failed()) return reader_.error();
    return reader_.metadata_count();
}

plan planner::collect(std::uint32_t metadata) {
    plan made;
    made.metadata = metadata;
    removed_.clear();
    refused_fingerprints_.clear();
    for (std::size_t i = 0; i < offered_.size(); ++i) {
        const entry_counts counts{
            .samples = offered_[i].samples, .histograms = entries_[i].histograms, .exemplars = entries_[i].exemplars};
        made.received += counts;
        if (verdicts_[i] == verdict::accepted) continue;

        made.refused += counts;
        removed_.push_back(entries_[i].record);
        refused_fingerprints_.push_back(offered_[i].fingerprint);
        if (verdicts_[i] == verdict::refused_unknown) {
            ++made.refused_unknown_entries;
        } else if (!made.first_refusal) {
            made.first_refusal = refusal{.record = entries_[i].record, .reason = verdicts_[i]};
        }
    }

    std::ranges::sort(refused_fingerprints_);
    // std::unique: clang 14 cannot compile libstdc++ 12's std::ranges::unique.
    const auto end = std::unique(refused_fingerprints_.begin(), refused_fingerprints_.end());
    made.refused_series = static_cast<std::uint64_t>(end - refused_fingerprints_.begin());
    made.removed = removed_;
    if (removed_.empty()) {
        made.forward = forwarding::unchanged;
    } else if (removed_.size() == offered_.size() && metadata == 0) {
        made.forward = forwarding::nothing;
    } else {
        made.forward = forwarding::spliced;
    }
    return made;
}

}  // namespace seriesgate
