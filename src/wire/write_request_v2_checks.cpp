// Exemplars and metadata: nothing is taken from them, but they must be right.
#include "wire/symbol_refs.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate {
namespace {

using enum wire_type;

}  // namespace

void write_request_v2_reader::check_ref(std::uint64_t ref) noexcept {
    if (ref >= symbols_.size()) return leave_out(series_fault::unknown_symbol);
    symbol_bytes_ += symbols_[ref].text.size;
}

fault write_request_v2_reader::check_exemplar(bytes_view exemplar) noexcept {
    std::size_t count = 0;
    const auto take = [&, this](std::uint64_t ref) noexcept {
        ++count;
        check_ref(ref);
    };
    field_cursor fields{exemplar};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                if (auto wrong = for_each_ref(fields.read_bytes(), take)) return wrong;
                break;
            case tag_of(1, varint): {
                const std::uint64_t ref = fields.read_varint_value();
                if (!fields.failed()) take(ref);
                break;
            }
            case tag_of(2, fixed64):  // value
                fields.read_fixed64();
                break;
            case tag_of(3, varint):  // timestamp
                fields.read_varint_value();
                break;
            default:
                fields.skip_unknown(known_fields(1, 2, 3));
        }
    if (fields.failed()) return fault_of(fields);
    if (count % 2 != 0) leave_out(series_fault::odd_symbol_refs);
    return {};
}

fault write_request_v2_reader::check_metadata(bytes_view metadata) noexcept {
    field_cursor fields{metadata};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, varint):  // type
                fields.read_varint_value();
                break;
            case tag_of(3, varint):    // help_ref
            case tag_of(4, varint): {  // unit_ref
                const std::uint64_t ref = fields.read_varint_value();
                if (!fields.failed()) check_ref(ref);
                break;
            }
            default:
                fields.skip_unknown(known_fields(1, 3, 4));
        }
    return fault_of(fields);
}

}  // namespace seriesgate
