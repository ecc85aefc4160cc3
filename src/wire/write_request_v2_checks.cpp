// Exemplars and metadata: nothing is taken from them, but they must be right.
#include "wire/symbol_refs.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate {
namespace {

using enum wire_type;

}  // namespace

fault write_request_v2_reader::check_ref(std::uint64_t ref, const char* at) noexcept {
    if (ref >= symbols_.size()) return {wire_errc::symbol_ref_out_of_range, at};
    symbol_bytes_ += symbols_[ref].text.size;
    return {};
}

fault write_request_v2_reader::check_exemplar(bytes_view exemplar) noexcept {
    const char* last = nullptr;
    std::size_t count = 0;
    const auto take = [&, this](std::uint64_t ref, const char* at) noexcept {
        last = at;
        ++count;
        return check_ref(ref, at);
    };
    field_cursor fields{exemplar};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, len):
                if (auto wrong = for_each_ref(fields.read_bytes(), take)) return wrong;
                break;
            case tag_of(1, varint): {
                const char* const start = fields.position();
                const std::uint64_t ref = fields.read_varint_value();
                if (fields.failed()) break;
                if (auto wrong = take(ref, start)) return wrong;
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
    if (count % 2 != 0) return {wire_errc::symbol_refs_odd, last};
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
                const char* const start = fields.position();
                const std::uint64_t ref = fields.read_varint_value();
                if (fields.failed()) break;
                if (auto wrong = check_ref(ref, start)) return wrong;
                break;
            }
            default:
                fields.skip_unknown(known_fields(1, 3, 4));
        }
    return fault_of(fields);
}

}  // namespace seriesgate
