// What write_request_v2_reader asks of references, and of records that nothing is taken from.
#include "wire/symbol_refs.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate {
namespace {

constexpr auto len = wire_type::len;
constexpr auto varint = wire_type::varint;
constexpr auto fixed64 = wire_type::fixed64;

}  // namespace

fault write_request_v2_reader::check_label_ref(std::uint64_t ref, const char* at, label_refs& seen) const noexcept {
    if (ref >= symbols_.size()) return {wire_errc::symbol_ref_out_of_range, at};
    const std::size_t size = symbols_[ref].text.size;
    if (size > label_bytes_max) return {wire_errc::label_bytes_over_limit, at};
    seen.bytes += size;
    seen.is_odd = true;
    if (seen.name_at != nullptr) {
        seen.name_at = nullptr;
        return {};
    }
    if (size == 0) return {wire_errc::label_without_name, at};
    if (seen.count == labels_per_series_max) return {wire_errc::labels_over_limit, at};
    ++seen.count;
    seen.name_at = at;
    return {};
}

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
