/// The records that remote write 1 and 2 have in common: samples and histograms. Internal to wire.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "wire/field_cursor.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// Where and why a nested message is wrong.
struct fault {
    wire_errc code = wire_errc::none;
    const char* at = nullptr;

    explicit operator bool() const noexcept { return code != wire_errc::none; }
};

inline fault fault_of(const field_cursor& fields) noexcept {
    return {fields.error(), fields.field_start()};
}

/// The fields that a message defines (see field_cursor::skip_unknown): v2 has start_timestamp besides, which in v1 is
/// a field like any unknown one.
inline constexpr std::uint64_t sample_fields_v1 = known_fields(1, 2);
inline constexpr std::uint64_t sample_fields_v2 = known_fields(1, 2, 3);
inline constexpr std::uint64_t histogram_fields_v1 =
    known_fields(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
inline constexpr std::uint64_t histogram_fields_v2 = histogram_fields_v1 | known_fields(17);

/// The record of a sample as nearly all are: a value, left out if it is 0, and a time in milliseconds between the years
/// 1987 and 2109 (six bytes).
/// @param at may stand at anything.
/// @param value becomes the bits of the sample's value.
/// @return the byte after the record, or nullptr if there is something else.
inline const char* read_plain_sample(const char* at, const char* end, std::uint64_t& value) noexcept {
    // 0x12 16 0x09 value 0x10 time, or 0x12 7 0x10 time
    constexpr std::ptrdiff_t size = 18;
    constexpr std::ptrdiff_t size_of_zero = 9;
    const auto has_time_before = [](const char* record_end) {
        std::uint64_t tail = 0;
        std::memcpy(&tail, record_end - sizeof tail, sizeof tail);
        return (tail & 0x808080808080ff00u) == 0x0080808080801000u;
    };
    if (end - at < size_of_zero || *at != 0x12) return nullptr;
    if (at[1] == size - 2 && end - at >= size && at[2] == 0x09 && has_time_before(at + size)) {
        std::memcpy(&value, at + 3, sizeof value);
        return at + size;
    }
    if (at[1] != size_of_zero - 2 || !has_time_before(at + size_of_zero)) return nullptr;
    value = 0;
    return at + size_of_zero;
}

/// `value` becomes the bits of the sample's value; absent means 0.
inline fault read_sample(bytes_view sample, std::uint64_t known, std::uint64_t& value) noexcept {
    field_cursor fields{sample};
    while (fields.next()) switch (fields.tag()) {
            case tag_of(1, wire_type::fixed64):
                value = fields.read_fixed64();
                break;
            case tag_of(2, wire_type::varint):  // timestamp
            case tag_of(3, wire_type::varint):  // start_timestamp of v2
                fields.read_varint_value();
                break;
            default:
                fields.skip_unknown(known);
        }
    return fault_of(fields);
}

/// `sum` becomes the bits of field 3, where a stale marker stands; absent means 0.
fault check_histogram(bytes_view histogram, std::uint64_t known, std::uint64_t& sum) noexcept;

}  // namespace seriesgate
