#include "wire/field_cursor.hpp"

#include <array>

namespace seriesgate {
namespace {

/// Appends little-endian on any machine.
void append_fixed64(std::string& out, std::uint64_t bits) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bits >> 8 * i & 0xff);
    out.append(bytes.data(), bytes.size());
}

std::string sample_of(std::uint64_t value_bits, std::int64_t timestamp) {
    std::string sample;
    append_varint(sample, tag_of(1, wire_type::fixed64));
    append_fixed64(sample, value_bits);
    append_varint(sample, tag_of(2, wire_type::varint));
    append_varint(sample, static_cast<std::uint64_t>(timestamp));
    return sample;
}

[[maybe_unused]] bool are_in_order(std::span<const label_view> labels) {
    for (std::size_t i = 1; i < labels.size(); ++i)
        if (labels[i - 1].name >= labels[i].name) return false;
    return true;
}

}  // namespace

void append_series(std::string& out, std::span<const label_view> labels, std::uint64_t value_bits,
                   std::int64_t timestamp) {
    assert(are_in_order(labels));
    std::string series;
    for (const label_view& label : labels) append_label(series, label.name, label.value);
    append_bytes(series, tag_of(2, wire_type::len), sample_of(value_bits, timestamp));
    append_bytes(out, tag_of(1, wire_type::len), series);
}

}  // namespace seriesgate
