/// What a request body is, by its Content-Type and Content-Encoding.
#pragma once

#include <cstdint>
#include <string_view>

#include "upstream/net.hpp"
#include "wire/compression.hpp"

namespace seriesgate {

struct media {
    compression coding = compression::snappy;
    /// What is wrong, as one line; empty for a body that can be read.
    std::string_view fault{};
};

/// Readable: `application/x-protobuf`, alone or with `proto=prometheus.WriteRequest`, compressed with `snappy` or
/// `zstd`. Absent headers mean remote write 1 and snappy, as in Prometheus, Cortex and Mimir. Upper and lower case, and
/// blanks around the separators, make no difference.
media media_of(const http::fields& headers);

}  // namespace seriesgate
