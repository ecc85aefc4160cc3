/// The records that remote write 1 and 2 have in common: samples and histograms. Internal to wire.
#pragma once

#include <cassert>
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

/// A sample as nearly all are written: a value, left out if it is 0, and a time in milliseconds that takes six bytes
/// (the years 1987 to 2109). So 0x12 16 0x09 value 0x10 time, or 0x12 7 0x10 time.
inline constexpr std::ptrdiff_t plain_sample_bytes = 18;
inline constexpr std::ptrdiff_t plain_zero_bytes = 9;

/// Whether that is what stands from `at` to `end`. Which of the two it is has no pattern, so there is no branch for it.
/// @param value becomes the bits of the sample's value.
inline bool is_plain_sample(const char* at, const char* end, std::uint64_t& value) noexcept {
    assert(at <= end);
    const std::ptrdiff_t size = end - at;
    const bool is_zero = size == plain_zero_bytes;
    if (!is_zero & (size != plain_sample_bytes)) return false;
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::memcpy(&head, at, sizeof head);
    std::memcpy(&tail, end - sizeof tail, sizeof tail);
    std::memcpy(&value, at + (is_zero ? 0 : 3), sizeof value);
    value &= std::uint64_t{is_zero} - 1;
    const std::uint64_t expected_head = is_zero ? 0x0712 : 0x091012;
    const std::uint64_t head_mask = is_zero ? 0xffff : 0xffffff;
    return ((head & head_mask) == expected_head) & ((tail & 0x808080808080ff00u) == 0x0080808080801000u);
}

/// What an entry holds before the plain sample that it ends with, by its last bytes alone; nothing if there is none, or
/// nothing else. Without a branch for which of the two it is, as above.
/// @param value becomes the bits of the sample's value.
inline bytes_view labels_before_plain_sample(bytes_view entry, std::uint64_t& value) noexcept {
    if (entry.size() <= plain_sample_bytes) return {};
    const char* const end = entry.data() + entry.size();
    std::uint32_t head = 0;
    std::uint16_t zero_head = 0;
    std::uint64_t tail = 0;
    std::memcpy(&head, end - plain_sample_bytes, sizeof head);
    std::memcpy(&value, end - plain_sample_bytes + 3, sizeof value);
    std::memcpy(&zero_head, end - plain_zero_bytes, sizeof zero_head);
    std::memcpy(&tail, end - sizeof tail, sizeof tail);
    const bool has_value = (head & 0xffffff) == 0x091012;
    const bool is_plain = (has_value | (zero_head == 0x0712)) & ((tail & 0x808080808080ff00u) == 0x0080808080801000u);
    value &= -std::uint64_t{has_value};
    static_assert(plain_sample_bytes == 2 * plain_zero_bytes);
    return {entry.data(), is_plain ? entry.size() - (std::size_t{plain_zero_bytes} << has_value) : 0};
}

/// A plain sample where anything may follow.
/// @param at may stand at anything.
/// @return the byte after the record, or nullptr if there is something else.
inline const char* read_plain_sample(const char* at, const char* end, std::uint64_t& value) noexcept {
    if (end - at < plain_zero_bytes) return nullptr;
    const std::ptrdiff_t size = 2 + static_cast<unsigned char>(at[1]);
    return size <= end - at && is_plain_sample(at, at + size, value) ? at + size : nullptr;
}

/// `value` becomes the bits of the sample's value; absent means 0.
inline fault read_sample(bytes_view sample, std::uint64_t known, std::uint64_t& value) noexcept {
    value = 0;
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
