/// What can be wrong with bytes from outside.
#pragma once

#include <cstdint>
#include <string>

namespace seriesgate {

enum class wire_errc : std::uint8_t {
    none,
    // compression
    empty_body,
    snappy_framed,
    snappy_corrupt,
    zstd_corrupt,
    declared_size_over_limit,
    declared_size_implausible,
    // Protocol Buffers
    truncated,
    varint_too_long,
    tag_not_canonical,
    field_number_zero,
    group,
    unknown_wire_type,
    wrong_wire_type,
    packed_truncated,
    // remote write
    label_without_name,
    series_over_limit,
    labels_over_limit,
    label_bytes_over_limit,
    // remote write 2
    field_of_version_1,
    symbols_over_limit,
    symbol_ref_out_of_range,
    symbol_refs_odd,
    series_label_bytes_over_limit,
    request_symbol_bytes_over_limit,
    // limits
    rule_work_over_limit,
};

/// An error and the byte of the input where it was found (of the decoded body for Protocol Buffers errors).
struct wire_error {
    wire_errc code = wire_errc::none;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  ///< of declared_size_over_limit: what was declared, if it was
};

/// One readable line without a line end, for the sender and the log: "truncated field at byte 17".
std::string to_string(const wire_error& error);

}  // namespace seriesgate
