#include "plan/plan.hpp"

#include "core/kept_memory.hpp"

namespace seriesgate {

result<plan, wire_error> planner::operator()(bytes_view body, series_limiter& limiter, time_point now,
                                             std::string_view tenant, protocol version) {
    const wire_error wrong = read(body, tenant, version);
    if (wrong.code != wire_errc::none) return wrong;
    return decide(limiter, now, tenant);
}

wire_error planner::read(bytes_view body, std::string_view tenant, protocol version) {
    version_ = version;
    tenant_ = tenant_key_of(tenant, key_);
    if (version == protocol::v2) {
        reader_v2_.reset(body, symbol_bytes_max_);
        return read_all(reader_v2_);
    }
    reader_.reset(body);
    return read_all(reader_);
}

/// The whole request is read before anything is decided: a malformed one must change nothing.
template <class Reader>
wire_error planner::read_all(Reader& reader) {
    const tenant_key tenant = tenant_;
    offered_.clear();
    entries_.clear();
    empty_entries_ = 0;
    while (reader.next()) {
        const series_view& series = reader.series();
        if (!series.holds_data()) [[unlikely]] {  // no store makes a series of it: it passes as metadata does
            ++empty_entries_;
            continue;
        }
        offered_.push_back({.fingerprint = fingerprint_of(series.labels_hash, tenant),
                            .samples = series.samples + series.histograms,
                            .admits = series.admits});
        entries_.push_back({.record = series.record, .histograms = series.histograms, .exemplars = series.exemplars});
    }
    metadata_ = reader.metadata_count();
    return reader.error();
}

result<plan, wire_error> planner::decide(series_limiter& limiter, time_point now, std::string_view tenant) {
    verdicts_.resize(offered_.size());
    const request_origin origin{.tenant = tenant, .labels = this};
    if (!limiter.decide(offered_, now, verdicts_, scratch_, origin))
        return wire_error{wire_errc::rule_work_over_limit, 0};
    return collect();
}

std::size_t planner::bytes() const noexcept {
    return held_bytes(offered_) + held_bytes(entries_) + offered_.size() * decided_entry_bytes + reader_v2_.bytes();
}

void planner::shrink() {
    reader_.shrink();
    reader_v2_.shrink();
    hasher_.shrink();
    give_back(offered_);
    give_back(entries_);
    give_back(verdicts_);
    give_back(removed_);
    refused_series_.shrink();
    scratch_.shrink();
    give_back(labels_);
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

plan planner::collect() {
    plan made;
    plan_counts& counts = made;
    counts.metadata = metadata_;
    counts.empty_entries = empty_entries_;
    removed_.clear();
    rejected_.clear();
    refused_series_.start();
    for (std::size_t i = 0; i < offered_.size(); ++i) {
        const entry_counts of_entry{
            .samples = offered_[i].samples, .histograms = entries_[i].histograms, .exemplars = entries_[i].exemplars};
        counts.received += of_entry;
        if (is_accepted(verdicts_[i])) continue;

        counts.refused += of_entry;
        removed_.push_back(entries_[i].record);
        refused_series_.add(offered_[i].fingerprint);
        if (verdicts_[i] == verdict::unknown) {
            ++counts.refused_unknown_entries;
            continue;
        }
        const refusal refused{.entry = i, .record = entries_[i].record, .series = offered_[i], .reason = verdicts_[i]};
        if (!made.first_refusal) made.first_refusal = refused;
        if (is_told(verdicts_[i]) && rejected_.size() < rejected_max) rejected_.push_back(refused);
    }

    counts.refused_series = refused_series_.count();
    made.removed = removed_;
    made.rejected = rejected_;
    if (removed_.empty()) {
        made.forward = forwarding::unchanged;
    } else if (removed_.size() == offered_.size() && metadata_ == 0 && empty_entries_ == 0) {
        made.forward = forwarding::nothing;
    } else {
        made.forward = forwarding::spliced;
    }
    return made;
}

}  // namespace seriesgate
