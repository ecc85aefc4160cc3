#include "wire/sample_records.hpp"

namespace seriesgate {
namespace {

using enum wire_type;

fault check_bucket_span(bytes_view span) noexcept {
    field_cursor fields{span};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, varint):  // offset
            case tag_of(2, varint):  // length
                fields.read_varint_value();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2));
        }
    return fault_of(fields);
}

void check_packed_varints(field_cursor& fields) noexcept {
    const bytes_view packed = fields.read_bytes();
    const char* const end = packed.data() + packed.size();
    std::uint64_t ignored = 0;
    for (const char* at = packed.data(); at != end;) {
        at = read_varint(at, end, ignored);
        if (at == nullptr) {
            fields.fail(wire_errc::packed_truncated);
            return;
        }
    }
}

void check_packed_fixed64(field_cursor& fields) noexcept {
    if (fields.read_bytes().size() % 8 != 0) fields.fail(wire_errc::packed_truncated);
}

}  // namespace

/// Field numbers and types: prompb/types.proto and its v2, message Histogram.
fault check_histogram(bytes_view histogram, std::uint64_t known, std::uint64_t& sum) noexcept {
    field_cursor fields{histogram};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(3, fixed64):
                sum = fields.read_fixed64();
                break;
            case tag_of(2, fixed64):   // count_float
            case tag_of(5, fixed64):   // zero_threshold
            case tag_of(7, fixed64):   // zero_count_float
            case tag_of(10, fixed64):  // negative_counts, unpacked
            case tag_of(13, fixed64):  // positive_counts, unpacked
            case tag_of(16, fixed64):  // custom_values, unpacked
                fields.read_fixed64();
                break;
            case tag_of(1, varint):   // count_int
            case tag_of(4, varint):   // schema
            case tag_of(6, varint):   // zero_count_int
            case tag_of(9, varint):   // negative_deltas, unpacked
            case tag_of(12, varint):  // positive_deltas, unpacked
            case tag_of(14, varint):  // reset_hint
            case tag_of(15, varint):  // timestamp
            case tag_of(17, varint):  // start_timestamp of v2
                fields.read_varint_value();
                break;
            case tag_of(8, len):   // negative_spans
            case tag_of(11, len):  // positive_spans
                if (auto wrong = check_bucket_span(fields.read_bytes())) return wrong;
                break;
            case tag_of(9, len):   // negative_deltas
            case tag_of(12, len):  // positive_deltas
                check_packed_varints(fields);
                break;
            case tag_of(10, len):  // negative_counts
            case tag_of(13, len):  // positive_counts
            case tag_of(16, len):  // custom_values
                check_packed_fixed64(fields);
                break;
            default:
                fields.skip_unknown(known);
        }
    return fault_of(fields);
}

}  // namespace seriesgate
