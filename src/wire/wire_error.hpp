/// Errors of requests and their entries, bounds on requests, and the protocol versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace seriesgate {

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

/// An error and its position in the input (in the decoded body for Protocol Buffers errors).
struct wire_error {
    wire_errc code = wire_errc::none;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  ///< of declared_size_over_limit: the declared size, if any
};

/// One line without a line end, for the sender and the log: "truncated field at byte 17".
std::string to_string(const wire_error& error);

/// Errors of one entry in a well-formed request. Only that entry is left out.
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

/// The name in metrics and the log: "label_too_long".
std::string_view name_of(series_fault fault) noexcept;

/// For the sender: "a label name or value of more than 262144 bytes".
std::string to_string(series_fault fault);

// --- Bounds of a request.

/// Bound the memory that a small hostile body can take. Prometheus sends 2,000 series a request, vmagent 10,000; stores
/// allow 30 to 40 labels by default.
inline constexpr std::size_t series_per_request_max = 1 << 20;
inline constexpr std::size_t labels_per_series_max = 1024;
/// Stores allow values of 1 to 16 KiB by default. Prometheus forwards scraped values, such as Kubernetes annotations of
/// up to 256 KiB.
inline constexpr std::size_t label_bytes_max = 256 * 1024;

/// Labels of series with unsorted or duplicate names, or with more than the walk looks at. Sorting takes about ten
/// times as long as reading: at most a quarter of a second. Senders must sort; clients that do not send only some
/// thousand series at once.
inline constexpr std::size_t unordered_labels_per_request_max = 1 << 22;

/// A zstd body of any size may decode to this many bytes: twice a block of vmagent (-remoteWrite.maxBlockSize).
inline constexpr std::size_t zstd_expanded_bytes_free = 16u << 20;
/// A larger one may decode to so many times its size. Series of kube-state-metrics, all of value 0, reached 284 times.
inline constexpr std::size_t zstd_expansion_max = 512;

/// Remote write 2. Prometheus sends some thousand symbols a request.
inline constexpr std::size_t symbols_per_request_max = 1 << 22;
/// Bytes of a series' names and values spelled out, and of all references of a request, including exemplars and
/// metadata. Without them, a body of some megabytes whose labels all refer to one symbol of 256 KiB means terabytes of
/// work.
inline constexpr std::size_t label_bytes_per_series_max = 1 << 20;
inline constexpr std::size_t symbol_bytes_per_request_max = 1 << 28;
/// What a spelled out label takes besides: tags and lengths in remote write 1. Counted with its bytes.
inline constexpr std::size_t label_frame_bytes = 8;

// --- Protocol versions.

enum class protocol : std::uint8_t {
    v1,  ///< prometheus.WriteRequest
    v2,  ///< io.prometheus.write.v2.Request
};

}  // namespace seriesgate
