/// The property on which the limit stands: what our walk accepts, every store's parser reads as the same series.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "fuzz/go_walk.hpp"
#include "fuzz/seen_request.hpp"
#include "remote_write_v1.pb.h"
#include "series/reference_fingerprint.hpp"
#include "wire/splice.hpp"
#include "wire/write_request.hpp"

namespace seriesgate::testing {

/// What a series of either version holds, as libprotobuf sees it.
template <class Series>
void count_data(const Series& series, seen_series& seen) {
    seen.samples = static_cast<std::uint32_t>(series.samples_size());
    seen.histograms = static_cast<std::uint32_t>(series.histograms_size());
    seen.exemplars = static_cast<std::uint32_t>(series.exemplars_size());
    for (const auto& sample : series.samples())
        seen.admits |= std::bit_cast<std::uint64_t>(sample.value()) != 0x7ff0000000000002;
    for (const auto& histogram : series.histograms())
        seen.admits |= std::bit_cast<std::uint64_t>(histogram.sum()) != 0x7ff0000000000002;
}

inline std::optional<seen_request> seen_by_libprotobuf(bytes_view body) {
    prometheus::WriteRequest message;
    if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) return std::nullopt;
    seen_request request;
    request.metadata = static_cast<std::uint32_t>(message.metadata_size());
    for (const auto& series : message.timeseries()) {
        seen_series& seen = request.series.emplace_back();
        for (const auto& label : series.labels()) seen.labels.emplace_back(label.name(), label.value());
        count_data(series, seen);
    }
    return request;
}

/// An entry that is for no store.
struct left_out_record {
    byte_range record;
    series_fault fault;
    std::size_t entry;  ///< its index among all entries
};

/// The body that a store gets.
inline std::string without_left_out(bytes_view body, const std::vector<left_out_record>& left_out) {
    std::vector<byte_range> removed;
    for (const left_out_record& each : left_out) removed.push_back(each.record);
    std::string kept;
    splice(body, removed, kept);
    return kept;
}

/// What the walk said, and what is wrong with that: nothing, as long as the property holds.
struct walk_check {
    bool accepted = false;
    bool accepted_by_libprotobuf = false;
    wire_error error;
    seen_request seen;                ///< without what is left out
    std::vector<byte_range> records;  ///< of all entries
    std::vector<left_out_record> left_out;
    std::string fault;
};

/// Whether a reader that has read other bodies before says of this one what a new one does.
template <class Reader>
bool is_read_alike_again(bytes_view body, Reader& used) {
    Reader fresh{body};
    used.reset(body);
    for (;;) {
        const bool more = fresh.next();
        if (used.next() != more) return false;
        if (!more) return used.error().code == fresh.error().code && used.error().offset == fresh.error().offset;
        if (used.series() != fresh.series()) return false;
        if ((used.left_out() == nullptr) != (fresh.left_out() == nullptr)) return false;
        if (used.left_out() != nullptr && *used.left_out() != *fresh.left_out()) return false;
    }
}

/// Reads the series and checks what the reader says about their bytes.
/// @param record_tag of a series within a request
template <class Reader>
void walk_by(bytes_view body, char record_tag, walk_check& check) {
    std::uint64_t record_end = 0;
    std::vector<label_view> buffer;
    Reader reader{body};
    while (reader.next()) {
        const series_view& series = reader.series();
        check.records.push_back(series.record);
        if (const left_out_series* wrong = reader.left_out()) {
            check.left_out.push_back({series.record, wrong->fault, check.records.size() - 1});
            if (series.holds_data()) check.fault = "what is left out has counts";
            continue;
        }
        seen_series& seen = check.seen.series.emplace_back();
        reader.labels(series.record, buffer);
        for (const label_view& label : buffer) seen.labels.emplace_back(label.name, label.value);
        seen.samples = series.samples;
        seen.histograms = series.histograms;
        seen.exemplars = series.exemplars;
        seen.admits = series.admits;

        if (series.record.offset < record_end || series.record.size < 2 ||
            std::uint64_t{series.record.offset} + series.record.size > body.size() ||
            body[series.record.offset] != record_tag)
            check.fault = "a record's range is wrong";
        record_end = series.record.end();
        if (series.labels_hash != reference_labels_hash(seen.labels)) check.fault = "the labels' hash is wrong";
    }
    check.seen.metadata = reader.metadata_count();
    check.error = reader.error();
    check.accepted = !reader.failed();
    if (check.accepted != (check.error.code == wire_errc::none)) check.fault = "failed() and error() disagree";
    if (check.error.offset > body.size()) check.fault = "an error's offset lies outside the body";
    static Reader used;  // as long-lived as a worker's
    if (!is_read_alike_again(body, used)) check.fault = "a reader keeps something of another body";
}

inline void walk(bytes_view body, walk_check& check) {
    walk_by<write_request_reader>(body, '\x0a', check);
    label_hash_cache known{4'096};
    write_request_reader recognising{label_hasher{hash_key::known_to_all()}, &known};
    for (int round = 0; round < 2; ++round)  // in the second one its labels are known
        if (!is_read_alike_again(body, recognising)) check.fault = "a reader that knows labels reads something else";
}

/// Checks the property for one body, which may be any bytes.
inline walk_check check_walk(bytes_view body) {
    walk_check check;
    walk(body, check);
    const auto reference = seen_by_libprotobuf(body);
    check.accepted_by_libprotobuf = reference.has_value();
    if (!check.accepted || !check.fault.empty()) return check;  // to refuse is always safe

    const std::string kept = without_left_out(body, check.left_out);
    if (!reference) {
        check.fault = "accepted, but libprotobuf refuses it";
    } else if (reference->series.size() != check.seen.series.size() + check.left_out.size()) {
        check.fault = "libprotobuf sees other entries";
    } else if (seen_by_libprotobuf(kept) != check.seen) {
        check.fault = "libprotobuf sees something else";
    } else if (seen_by_go(kept, go_parser::gogo) != check.seen) {
        check.fault = "gogo sees something else";
    } else if (seen_by_go(kept, go_parser::easyproto) != check.seen) {
        check.fault = "easyproto sees something else";
    }
    return check;
}

}  // namespace seriesgate::testing
