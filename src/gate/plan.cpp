#include "gate/plan.hpp"

namespace seriesgate {

result<plan, wire_error> planner::operator()(bytes_view body, admission& limits, time_point now,
                                             std::string_view tenant, protocol version) {
    version_ = version;
    tenant_ = tenant_key_of(tenant, key_);
    if (version == protocol::v2) {
        reader_v2_.reset(body, symbol_bytes_max_);
    } else {
        reader_.reset(body);
    }
    const auto metadata = version == protocol::v2 ? read(reader_v2_) : read(reader_);
    if (!metadata) return metadata.error();
    verdicts_.resize(offered_.size());
    const request_origin origin{.tenant = tenant, .labels = this};
    limits.decide(offered_, now, verdicts_, scratch_, origin);
    return collect(*metadata);
}

/// The whole request is read before anything is decided: a malformed one must change nothing.
template <class Reader>
result<std::uint32_t, wire_error> planner::read(Reader& reader) {
    const tenant_key tenant = tenant_;
    offered_.clear();
    entries_.clear();
    while (reader.next()) {
        const series_view& series = reader.series();
        offered_.push_back({.fingerprint = fingerprint_of(series.labels_hash, tenant),
                            .samples = series.samples + series.histograms,
                            .admits = series.admits});
        entries_.push_back({.record = series.record, .histograms = series.histograms, .exemplars = series.exemplars});
    }
    if (reader.failed()) return reader.error();
    return reader.metadata_count();
}

std::span<const label_view> planner::labels(std::size_t index) {
    if (version_ == protocol::v2) {
        reader_v2_.labels(entries_[index].record, labels_);
    } else {
        reader_.labels(entries_[index].record, labels_);
    }
    return labels_;
}

histogram_family planner::family(std::span<const label_view> labels) {
    return hasher_.family(labels, tenant_);
}

plan planner::collect(std::uint32_t metadata) {
    plan made;
    made.metadata = metadata;
    removed_.clear();
    rejected_.clear();
    refused_series_.start();
    for (std::size_t i = 0; i < offered_.size(); ++i) {
        const entry_counts counts{
            .samples = offered_[i].samples, .histograms = entries_[i].histograms, .exemplars = entries_[i].exemplars};
        made.received += counts;
        if (verdicts_[i] == verdict::accepted) continue;

        made.refused += counts;
        removed_.push_back(entries_[i].record);
        refused_series_.add(offered_[i].fingerprint);
        if (verdicts_[i] == verdict::refused_unknown) {
            ++made.refused_unknown_entries;
            continue;
        }
        const refusal refused{.entry = i, .record = entries_[i].record, .series = offered_[i], .reason = verdicts_[i]};
        if (!made.first_refusal) made.first_refusal = refused;
        if (is_rejected(verdicts_[i]) && rejected_.size() < rejected_max) rejected_.push_back(refused);
    }

    made.refused_series = refused_series_.count();
    made.removed = removed_;
    made.rejected = rejected_;
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
