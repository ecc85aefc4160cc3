#include "wire/write_request_checks.hpp"

namespace seriesgate {
namespace {

using enum wire_type;

/// Label of an exemplar: well formed is all we ask.
fault check_label(bytes_view label) noexcept {
    field_cursor fields{label};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):  // name
            case tag_of(2, len):  // value
                fields.read_bytes();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2));
        }
    return fault_of(fields);
}

}  // namespace

fault check_exemplar(bytes_view exemplar) noexcept {
    field_cursor fields{exemplar};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                if (auto wrong = check_label(fields.read_bytes())) return wrong;
                break;
            case tag_of(2, fixed64):  // value
                fields.read_fixed64();
                break;
            case tag_of(3, varint):  // timestamp
                fields.read_varint_value();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2, 3));
        }
    return fault_of(fields);
}

fault check_metadata(bytes_view metadata) noexcept {
    field_cursor fields{metadata};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, varint):  // type
                fields.read_varint_value();
                break;
            case tag_of(2, len):  // metric_family_name
            case tag_of(4, len):  // help
            case tag_of(5, len):  // unit
                fields.read_bytes();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2, 4, 5));
        }
    return fault_of(fields);
}

}  // namespace seriesgate
