/// Series of the gate's own, in remote write 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "series/label.hpp"

namespace seriesgate {

/// Appends a series with one sample to a `prometheus.WriteRequest`.
/// @param labels sorted by their names, no name twice, no value empty, all of it UTF-8: receivers drop others.
/// @param value_bits of the sample, an IEEE 754 double: a stale marker is a NaN with bits of its own, which a double in
/// a register may lose.
/// @param timestamp in milliseconds since 1970.
/// Source: Prometheus remote write 1.0, proto/remote_write_v1.proto.
void append_series(std::string& out, std::span<const label_view> labels, std::uint64_t value_bits,
                   std::int64_t timestamp);

}  // namespace seriesgate
