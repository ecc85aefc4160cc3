/// The records that remote write 1 and 2 have in common: samples and histograms. Internal to wire.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <utility>

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

// --- What the readers of both versions tell of a series entry.

/// One series entry of a request.
struct series_view {
    byte_range record;              ///< tag, length and payload within the body
    std::uint64_t labels_hash = 0;  ///< see fingerprint_of
    /// The sum of the hashes of those labels that labels_hash leaves out; 0: it has none, or no label is left out.
    std::uint64_t ignored_hash = 0;
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;
    /// Holds a sample or histogram other than a stale marker: what may admit a new series.
    bool admits = false;

    bool operator==(const series_view&) const = default;
    /// @param ignored part of labels_hash.
    void set_apart(std::uint64_t ignored) noexcept {
        ignored_hash = ignored;
        labels_hash -= ignored;
    }
    /// Nothing but labels and metadata otherwise.
    [[nodiscard]] bool holds_data() const noexcept { return (samples | histograms | exemplars) != 0; }
};

/// An entry that is well-formed Protocol Buffers and breaks a rule or a bound: no store is to get it.
struct left_out_series {
    series_fault fault = series_fault::label_without_name;  ///< the first
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;

    bool operator==(const left_out_series&) const = default;
    /// Takes an entry's counts away: it is no series.
    void take_counts(series_view& of) noexcept {
        samples = std::exchange(of.samples, 0);
        histograms = std::exchange(of.histograms, 0);
        exemplars = std::exchange(of.exemplars, 0);
        of.labels_hash = 0;
        of.ignored_hash = 0;
        of.admits = false;
    }
};

/// The value bits that mark a series as stale (a NaN); in a histogram they stand in the sum.
/// Source: prometheus/prometheus model/value/value.go, StaleNaN.
inline constexpr std::uint64_t stale_marker_bits = 0x7ff0000000000002;

// --- References to the symbols of remote write 2, as they stand on the wire. Internal to wire.

/// A reference as most are: below 2^14, in one or two bytes.
inline const char* read_ref(const char* at, const char* end, std::uint64_t& ref) noexcept {
    assert(at < end);
    const auto byte = [](const char* p) { return static_cast<unsigned char>(*p); };
    if (byte(at) < 0x80) {
        ref = byte(at);
        return at + 1;
    }
    if (end - at >= 2 && byte(at + 1) < 0x80) {
        ref = (byte(at) & 0x7fu) | static_cast<unsigned>(byte(at + 1)) << 7;
        return at + 2;
    }
    return read_varint(at, end, ref);
}

/// A reference of one or two bytes, told without a branch: which it is has no pattern.
struct short_ref {
    static constexpr std::uint32_t end = 1 << 14;

    std::uint32_t value;  ///< from `end` on: it has more bytes
    const char* after;

    explicit short_ref(const char* at) noexcept {
        std::uint16_t bytes = 0;
        std::memcpy(&bytes, at, sizeof bytes);
        const std::uint32_t first = bytes & 0xffu;
        const std::uint32_t second = bytes >> 8;
        const std::uint32_t more = first >> 7;
        value = first + (((second << 7) - 0x80u) & (0u - more));  // the first byte's high bit is no part of it
        after = at + 1 + more;
    }
};

/// Calls `take(ref)` for each reference of a packed run.
template <class Take>
fault for_each_ref(bytes_view packed, Take take) noexcept(noexcept(take(0))) {
    const char* const end = packed.data() + packed.size();
    for (const char* at = packed.data(); at != end;) {
        const char* const start = at;
        std::uint64_t ref = 0;
        at = read_ref(at, end, ref);
        if (at == nullptr) return {wire_errc::packed_truncated, start};
        take(ref);
    }
    return {};
}

}  // namespace seriesgate
