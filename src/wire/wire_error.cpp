#include "wire/wire_error.hpp"

#include <array>

namespace seriesgate {
namespace {

std::string more_than(std::string_view what, std::size_t bound, std::string_view unit) {
    return std::string{what}.append(" more than ").append(std::to_string(bound)).append(" ").append(unit);
}

const std::string& reason_of(wire_errc code) {
    static const auto texts = std::to_array<std::string>({
        "no error",
        "empty body: not compressed",
        "snappy framing format: remote write wants the snappy block format",
        "not a valid snappy block",
        "not a valid zstd frame",
        "decompresses to more than server.maxDecodedBytes",
        more_than("decompresses to", zstd_expansion_max, "times its size, and to") +
            more_than("", zstd_expanded_bytes_free, "bytes"),
        "declares more bytes than compressed data of this size can hold",
        "malformed protobuf: field runs past the end of its message",
        "malformed protobuf: varint too long",
        "malformed protobuf: tag not in canonical form",
        "malformed protobuf: field number 0",
        "malformed protobuf: groups are not part of remote write",
        "malformed protobuf: unknown wire type",
        "malformed protobuf: wrong wire type for a known field",
        "malformed protobuf: packed field ends inside an element",
        more_than("request with", series_per_request_max, "series"),
        more_than("request with", unordered_labels_per_request_max,
                  "labels in no order, of series with over 63, or behind the 16384th symbol"),
        "field of remote write 2 in a request of version 1",
        "field of remote write 1 in a request of version 2",
        more_than("request with", symbols_per_request_max, "symbols"),
        "request too large with its symbols filled in",
        "more work for the limits than one request may make: fewer series, labels or bytes, please",
    });
    static_assert(std::tuple_size_v<decltype(texts)> == static_cast<std::size_t>(wire_errc::rule_work_over_limit) + 1);
    return texts[static_cast<std::size_t>(code)];
}

constexpr auto fault_count = static_cast<std::size_t>(series_fault::count_);

bool has_offset(wire_errc code) {
    return code > wire_errc::declared_size_implausible && code != wire_errc::rule_work_over_limit;
}

}  // namespace

std::string to_string(const wire_error& error) {
    const std::string& reason = reason_of(error.code);
    return has_offset(error.code) ? reason + " at byte " + std::to_string(error.offset) : reason;
}

std::string_view name_of(series_fault fault) noexcept {
    constexpr std::array<std::string_view, fault_count> names{"label_without_name", "too_many_labels",
                                                              "label_too_long",     "labels_too_long",
                                                              "unknown_symbol",     "odd_symbol_refs"};
    return names[static_cast<std::size_t>(fault)];
}

std::string to_string(series_fault fault) {
    const std::array<std::string, fault_count> texts{
        "a label without a name",
        more_than("", labels_per_series_max, "labels").substr(1),
        more_than("a label name or value of", label_bytes_max, "bytes"),
        more_than("labels of", label_bytes_per_series_max, "bytes together"),
        "a reference to a symbol that is not in the request",
        "an odd number of label references: a name without a value"};
    return texts[static_cast<std::size_t>(fault)];
}

}  // namespace seriesgate
