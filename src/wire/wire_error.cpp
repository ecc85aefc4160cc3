#include "wire/wire_error.hpp"

#include <iterator>

namespace seriesgate {
namespace {

std::string more_than(std::string_view what, std::size_t bound, std::string_view unit) {
    std::string text{what};
    return text.append(" with more than ").append(std::to_string(bound)).append(" ").append(unit);
}

std::string reason(wire_errc code) {
    switch (code) {
        case wire_errc::none:
            return "no error";
        case wire_errc::empty_body:
            return "empty body: not compressed";
        case wire_errc::snappy_framed:
            return "snappy framing format: remote write wants the snappy block format";
        case wire_errc::snappy_corrupt:
            return "not a valid snappy block";
        case wire_errc::zstd_corrupt:
            return "not a valid zstd frame";
        case wire_errc::declared_size_over_limit:
            return "decompresses to more than server.maxDecodedBytes";
        case wire_errc::expands_too_much:
            return "decompresses to more than " + std::to_string(zstd_expansion_max) +
                   " times its size, and to more than " + std::to_string(zstd_expanded_bytes_free) + " bytes";
        case wire_errc::declared_size_implausible:
            return "declares more bytes than compressed data of this size can hold";
        case wire_errc::truncated:
            return "malformed protobuf: field runs past the end of its message";
        case wire_errc::varint_too_long:
            return "malformed protobuf: varint too long";
        case wire_errc::tag_not_canonical:
            return "malformed protobuf: tag not in canonical form";
        case wire_errc::field_number_zero:
            return "malformed protobuf: field number 0";
        case wire_errc::group:
            return "malformed protobuf: groups are not part of remote write";
        case wire_errc::unknown_wire_type:
            return "malformed protobuf: unknown wire type";
        case wire_errc::wrong_wire_type:
            return "malformed protobuf: wrong wire type for a known field";
        case wire_errc::packed_truncated:
            return "malformed protobuf: packed field ends inside an element";
        case wire_errc::series_over_limit:
            return more_than("request", series_per_request_max, "series");
        case wire_errc::unordered_labels_over_limit:
            return more_than("request", unordered_labels_per_request_max,
                             "labels of series whose labels are in no order");
        case wire_errc::field_of_version_2:
            return "field of remote write 2 in a request of version 1";
        case wire_errc::field_of_version_1:
            return "field of remote write 1 in a request of version 2";
        case wire_errc::symbols_over_limit:
            return more_than("request", symbols_per_request_max, "symbols");
        case wire_errc::request_symbol_bytes_over_limit:
            return "request too large with its symbols filled in";
        case wire_errc::rule_work_over_limit:
            return "more work for the limits than one request may make: fewer series, labels or bytes, please";
    }
    return "unknown error";
}

bool has_offset(wire_errc code) {
    return code > wire_errc::declared_size_implausible && code != wire_errc::rule_work_over_limit;
}

}  // namespace

std::string to_string(const wire_error& error) {
    if (!has_offset(error.code)) return reason(error.code);
    return reason(error.code).append(" at byte ").append(std::to_string(error.offset));
}

std::string_view name_of(series_fault fault) noexcept {
    constexpr std::string_view names[] = {"label_without_name", "too_many_labels", "label_too_long",
                                          "labels_too_long",    "unknown_symbol",  "odd_symbol_refs"};
    static_assert(std::size(names) == static_cast<std::size_t>(series_fault::count_));
    return fault < series_fault::count_ ? names[static_cast<std::size_t>(fault)] : std::string_view{};
}

std::string to_string(series_fault fault) {
    switch (fault) {
        case series_fault::label_without_name:
            return "a label without a name";
        case series_fault::too_many_labels:
            return "more than " + std::to_string(labels_per_series_max) + " labels";
        case series_fault::label_too_long:
            return "a label name or value of more than " + std::to_string(label_bytes_max) + " bytes";
        case series_fault::labels_too_long:
            return "labels of more than " + std::to_string(label_bytes_per_series_max) + " bytes together";
        case series_fault::unknown_symbol:
            return "a reference to a symbol that is not in the request";
        case series_fault::odd_symbol_refs:
            return "an odd number of label references: a name without a value";
        case series_fault::count_:
            break;
    }
    return "an unknown fault";
}

}  // namespace seriesgate
