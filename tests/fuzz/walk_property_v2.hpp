/// The property of walk_property.hpp for remote write 2: what our walk accepts, every store's parser reads as the same
/// series; what it refuses is wrong to libprotobuf too, but for the strictness that the walk is documented to have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/go_walk_v2.hpp"
#include "fuzz/seen_request.hpp"
#include "fuzz/walk_property.hpp"
#include "fuzz/wire_tree.hpp"
#include "remote_write_v2.pb.h"
#include "wire/splice.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate::testing {

using v2_request = io::prometheus::write::v2::Request;

inline std::optional<v2_request> parse_v2(bytes_view body) {
    v2_request message;
    if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) return std::nullopt;
    return message;
}

/// Whether the references are pairs of symbols of the message.
template <class Owner>
bool refs_are_right(const Owner& owner, const v2_request& message) {
    for (const auto ref : owner.labels_refs())
        if (ref >= static_cast<std::uint32_t>(message.symbols_size())) return false;
    return owner.labels_refs_size() % 2 == 0;
}

/// A series as libprotobuf sees it; nothing if a reference of its labels is wrong, or a label has no name.
inline std::optional<seen_series> seen_of(const io::prometheus::write::v2::TimeSeries& series,
                                          const v2_request& message) {
    if (!refs_are_right(series, message)) return std::nullopt;
    seen_series seen;
    for (int i = 0; i < series.labels_refs_size(); i += 2) {
        const auto& label = seen.labels.emplace_back(message.symbols(static_cast<int>(series.labels_refs(i))),
                                                     message.symbols(static_cast<int>(series.labels_refs(i + 1))));
        if (label.first.empty()) return std::nullopt;
    }
    count_data(series, seen);
    for (const auto& exemplar : series.exemplars())
        if (!refs_are_right(exemplar, message)) return std::nullopt;
    const auto known = [&](std::uint32_t ref) {
        return ref == 0 || ref < static_cast<std::uint32_t>(message.symbols_size());
    };
    if (!known(series.metadata().help_ref()) || !known(series.metadata().unit_ref())) return std::nullopt;
    return seen;
}

/// @return nothing if something about the references is wrong.
inline std::optional<seen_request> seen_by_libprotobuf_v2(const v2_request& message) {
    seen_request request;
    for (const auto& series : message.timeseries()) {
        auto seen = seen_of(series, message);
        if (!seen) return std::nullopt;
        request.series.push_back(std::move(*seen));
    }
    return request;
}

inline void walk_v2(bytes_view body, walk_check& check) {
    walk_by<write_request_v2_reader>(body, '\x2a', check);
}

/// Whether a request may be refused for this that libprotobuf takes.
inline bool is_documented_strictness(const wire_error& error) {
    switch (error.code) {
        case wire_errc::tag_not_canonical:
        case wire_errc::group:
        case wire_errc::wrong_wire_type:
        case wire_errc::varint_too_long:   // of 65 to 70 bits, which libprotobuf cuts
        case wire_errc::packed_truncated:  // likewise, in a packed run
        case wire_errc::request_symbol_bytes_over_limit:
            return true;
        case wire_errc::field_of_version_1:  // at its tag
            return true;
        default:
            return false;
    }
}

/// Whether an entry that was left out is wrong to libprotobuf, too, but for bounds, and for references that it cuts to
/// 32 bits or that are set again.
inline bool is_rightly_left_out(const left_out_record& each, const v2_request& message) {
    switch (each.fault) {
        case series_fault::label_without_name:
        case series_fault::odd_symbol_refs:
            return !seen_of(message.timeseries(static_cast<int>(each.entry)), message);
        default:
            return true;
    }
}

/// Checks the property for one body, which may be any bytes.
inline walk_check check_walk_v2(bytes_view body) {
    walk_check check;
    walk_v2(body, check);
    const auto message = parse_v2(body);
    check.accepted_by_libprotobuf = message.has_value();
    if (!check.fault.empty()) return check;

    if (!check.accepted) {
        if (message && !is_documented_strictness(check.error))
            check.fault = "refused, but right to libprotobuf: " + to_string(check.error);
        return check;
    }
    if (!message || static_cast<std::size_t>(message->timeseries_size()) != check.records.size()) {
        check.fault = "accepted, but libprotobuf refuses it or sees other entries";
        return check;
    }
    for (const left_out_record& each : check.left_out)
        if (!is_rightly_left_out(each, *message)) check.fault = "left out, but right to libprotobuf";
    const std::string kept = without_left_out(body, check.left_out);
    const auto kept_message = parse_v2(kept);
    if (!kept_message || seen_by_libprotobuf_v2(*kept_message) != check.seen) {
        check.fault = "libprotobuf sees something else";
    } else if (seen_by_gogo_v2(kept) != check.seen) {
        check.fault = "gogo sees something else";
    }
    return check;
}

/// Cuts a random half of the series out of an accepted body. @return what is wrong with the rest: nothing, if
/// libprotobuf sees the original without those, bit for bit.
inline std::string check_splice_v2(bytes_view body, const walk_check& check, random_source& random) {
    v2_request expected = parse_v2(body).value_or(v2_request{});
    std::vector<byte_range> removed;
    int kept = 0;
    for (int entry = 0; entry < static_cast<int>(check.records.size()); ++entry) {
        if (one_in(random, 2)) {
            removed.push_back(check.records[static_cast<std::size_t>(entry)]);
        } else {
            expected.mutable_timeseries()->SwapElements(kept++, entry);
        }
    }
    expected.mutable_timeseries()->DeleteSubrange(kept, static_cast<int>(removed.size()));
    std::string left;
    splice(body, removed, left);
    const auto message = parse_v2(left);
    if (!message) return "libprotobuf refuses what a splice left";
    // All fields, unknown ones too, and doubles as bits.
    if (message->SerializeAsString() != expected.SerializeAsString()) return "a splice changed what it kept";
    return {};
}

}  // namespace seriesgate::testing
