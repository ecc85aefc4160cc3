#include "wire/sample_records.hpp"

#include <algorithm>
#include <functional>

namespace seriesgate {
namespace {

using enum wire_type;

constexpr message_form bucket_span_form{.varints = known_fields(1, 2)};  // offset, length

std::string sample_of(std::uint64_t value_bits, std::int64_t timestamp) {
    std::string sample;
    append_varint(sample, tag_of(1, wire_type::fixed64));
    sample.append(reinterpret_cast<const char*>(&value_bits), sizeof value_bits);  // little-endian, as read_fixed64()
    append_varint(sample, tag_of(2, wire_type::varint));
    append_varint(sample, static_cast<std::uint64_t>(timestamp));
    return sample;
}

}  // namespace

fault check_message(bytes_view message, const message_form& form) noexcept {
    field_cursor fields{message};
    while (fields.next()) fields.skip(form);
    return fault_of(fields);
}

fault check_histogram(bytes_view histogram, const message_form& form, std::uint64_t& sum) noexcept {
    field_cursor fields{histogram};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(3, fixed64):
                sum = fields.read_fixed64();
                break;
            case tag_of(8, len):   // negative_spans
            case tag_of(11, len):  // positive_spans
                if (auto wrong = check_message(fields.read_bytes(), bucket_span_form)) return wrong;
                break;
            case tag_of(9, len):   // negative_deltas
            case tag_of(12, len):  // positive_deltas
                if (for_each_ref(fields.read_bytes(), [](std::uint64_t) {})) fields.fail(wire_errc::packed_truncated);
                break;
            case tag_of(10, len):  // negative_counts
            case tag_of(13, len):  // positive_counts
            case tag_of(16, len):  // custom_values
                if (fields.read_bytes().size() % 8 != 0) fields.fail(wire_errc::packed_truncated);
                break;
            default:
                fields.skip(form);
        }
    return fault_of(fields);
}

void append_series(std::string& out, std::span<const label_view> labels, std::uint64_t value_bits,
                   std::int64_t timestamp) {
    assert(std::ranges::adjacent_find(labels, std::ranges::greater_equal{}, &label_view::name) == labels.end());
    std::string series;
    for (const label_view& label : labels) append_label(series, label.name, label.value);
    append_bytes(series, tag_of(2, wire_type::len), sample_of(value_bits, timestamp));
    append_bytes(out, tag_of(1, wire_type::len), series);
}

}  // namespace seriesgate
