/// What remote write 1 and 2 share: samples, histograms, the view of a series entry, symbol references; and series
/// of the gate itself.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "core/bytes.hpp"
#include "series/label.hpp"
#include "wire/field_cursor.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// Position and reason of an error in a nested message.
struct fault {
    wire_errc code = wire_errc::none;
    const char* at = nullptr;

    explicit operator bool() const noexcept { return code != wire_errc::none; }
};

inline fault fault_of(const field_cursor& fields) noexcept {
    return {fields.error(), fields.field_start()};
}

/// Checks a message of which nothing is needed.
fault check_message(bytes_view message, const message_form& form) noexcept;

/// Source: prompb/types.proto and its v2. start_timestamp exists only in v2; in v1 it is an unknown field.
inline constexpr message_form sample_form_v1{.varints = known_fields(2), .fixed64s = known_fields(1)};
inline constexpr message_form sample_form_v2{.varints = known_fields(2, 3), .fixed64s = known_fields(1)};
inline constexpr message_form histogram_form_v1{.varints = known_fields(1, 4, 6, 9, 12, 14, 15),
                                                .fixed64s = known_fields(2, 3, 5, 7, 10, 13, 16),
                                                .lengths = known_fields(8, 9, 10, 11, 12, 13, 16)};
inline constexpr message_form histogram_form_v2{.varints = histogram_form_v1.varints | known_fields(17),
                                                .fixed64s = histogram_form_v1.fixed64s,
                                                .lengths = histogram_form_v1.lengths};

/// The usual form of a sample: a value, omitted if 0, and a time in milliseconds of six bytes (the years 1987 to 2109).
/// That is 0x12 16 0x09 value 0x10 time, or 0x12 7 0x10 time.
inline constexpr std::ptrdiff_t plain_sample_bytes = 18;
inline constexpr std::ptrdiff_t plain_zero_bytes = 9;

/// Whether [at, end) is a plain sample. Branch-free between the two forms, because their order is unpredictable.
/// @param value set to the bits of the sample's value.
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

/// The bytes before the plain sample at the end of an entry, judged by its last bytes alone. Empty if there is no such
/// sample, or nothing before it. Branch-free as above.
/// @param value set to the bits of the sample's value.
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

/// Reads a plain sample if one starts at `at`.
/// @return the byte after the record, or nullptr if there is something else.
inline const char* read_plain_sample(const char* at, const char* end, std::uint64_t& value) noexcept {
    if (end - at < plain_zero_bytes) return nullptr;
    const std::ptrdiff_t size = 2 + static_cast<unsigned char>(at[1]);
    return size <= end - at && is_plain_sample(at, at + size, value) ? at + size : nullptr;
}

/// `value` is set to the bits of the sample's value; absent means 0.
inline fault read_sample(bytes_view sample, const message_form& form, std::uint64_t& value) noexcept {
    value = 0;
    field_cursor fields{sample};
    while (fields.next())
        if (fields.tag() == tag_of(1, wire_type::fixed64))
            value = fields.read_fixed64();
        else
            fields.skip(form);
    return fault_of(fields);
}

/// `sum` is set to the bits of field 3, which holds a stale marker; absent means 0.
fault check_histogram(bytes_view histogram, const message_form& form, std::uint64_t& sum) noexcept;

// --- A series entry, as the readers of both versions return it.

struct series_view {
    byte_range record;              ///< tag, length and payload within the body
    std::uint64_t labels_hash = 0;  ///< see fingerprint_of
    /// Sum of the hashes of the labels that labels_hash excludes; 0: none.
    std::uint64_t ignored_hash = 0;
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;
    /// Has a sample or histogram other than a stale marker, so it may admit a new series.
    bool admits = false;

    bool operator==(const series_view&) const = default;
    /// @param ignored part of labels_hash.
    void set_apart(std::uint64_t ignored) noexcept {
        ignored_hash = ignored;
        labels_hash -= ignored;
    }
    /// false: only labels and metadata.
    [[nodiscard]] bool holds_data() const noexcept { return (samples | histograms | exemplars) != 0; }
};

/// A well-formed entry that breaks a rule or a bound: it is not forwarded.
struct left_out_series {
    series_fault fault = series_fault::label_without_name;  ///< the first
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;

    bool operator==(const left_out_series&) const = default;
    /// Moves an entry's counts here: it is no series.
    void take_counts(series_view& of) noexcept {
        samples = std::exchange(of.samples, 0);
        histograms = std::exchange(of.histograms, 0);
        exemplars = std::exchange(of.exemplars, 0);
        of.labels_hash = 0;
        of.ignored_hash = 0;
        of.admits = false;
    }
};

/// The value bits of a stale marker (a NaN); a histogram has them in its sum.
/// Source: prometheus/prometheus model/value/value.go, StaleNaN.
inline constexpr std::uint64_t stale_marker_bits = 0x7ff0000000000002;

// --- Symbol references of remote write 2. Internal to wire.

/// Reads a reference of one or two bytes without a branch: its length is unpredictable.
struct short_ref {
    static constexpr std::uint32_t end = 1 << 14;

    std::uint32_t value;  ///< from `end` on: more than two bytes
    const char* after;

    explicit short_ref(const char* at) noexcept {
        std::uint16_t bytes = 0;
        std::memcpy(&bytes, at, sizeof bytes);
        const std::uint32_t first = bytes & 0xffu;
        const std::uint32_t second = bytes >> 8;
        const std::uint32_t more = first >> 7;
        value = first + (((second << 7) - 0x80u) & (0u - more));  // removes the first byte's high bit
        after = at + 1 + more;
    }
};

/// Reads packed varints, which are references mostly.
template <class Take>
fault for_each_ref(bytes_view packed, Take take) noexcept(noexcept(take(0))) {
    const char* const end = packed.data() + packed.size();
    for (const char* at = packed.data(); at != end;) {
        const char* const start = at;
        std::uint64_t ref = 0;
        at = read_varint(at, end, ref);
        if (at == nullptr) return {wire_errc::packed_truncated, start};
        take(ref);
    }
    return {};
}

// --- Series of the gate itself, in remote write 1.

/// Appends a series with one sample to a `prometheus.WriteRequest`.
/// @param labels sorted by name, without duplicates or empty values, all UTF-8: receivers drop others.
/// @param value_bits IEEE 754 bits. A stale marker is a NaN whose bits a floating-point register may change.
/// @param timestamp in milliseconds since 1970.
/// Source: Prometheus remote write 1.0, proto/remote_write_v1.proto.
void append_series(std::string& out, std::span<const label_view> labels, std::uint64_t value_bits,
                   std::int64_t timestamp);

}  // namespace seriesgate
