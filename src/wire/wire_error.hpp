/// What can be wrong with bytes from outside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace seriesgate {

/// Of a whole request: nothing of it is for use.
enum class wire_errc : std::uint8_t {
    none,
    // compression
    empty_body,
    snappy_framed,
    snappy_corrupt,
    zstd_corrupt,
    declared_size_over_limit,
    expands_too_much,
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
    series_over_limit,
    unordered_labels_over_limit,
    field_of_version_2,
    // remote write 2
    field_of_version_1,
    symbols_over_limit,
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

/// What can be wrong with one series entry of a request whose Protocol Buffers are sound. That entry is left out alone.
enum class series_fault : std::uint8_t {
    label_without_name,
    too_many_labels,
    label_too_long,
    // remote write 2
    labels_too_long,
    unknown_symbol,
    odd_symbol_refs,
    count_
};

/// As metrics and the log show it: "label_too_long".
std::string_view name_of(series_fault fault) noexcept;

/// For the sender: "a label name or value of more than 262144 bytes".
std::string to_string(series_fault fault);

}  // namespace seriesgate
