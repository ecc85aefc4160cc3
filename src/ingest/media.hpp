/// What a request body is, by its Content-Type and Content-Encoding.
#pragma once

#include <string>

#include "net/http_fields.hpp"
#include "wire/compression.hpp"
#include "wire/protocol.hpp"

namespace seriesgate {

struct media {
    protocol version = protocol::v1;
    compression coding = compression::snappy;
    /// What is wrong, as one line; empty for a body that can be read.
    std::string fault{};
};

/// Readable: `application/x-protobuf`, alone or with `proto=prometheus.WriteRequest` (remote write 1) or
/// `proto=io.prometheus.write.v2.Request` (remote write 2), compressed with `snappy` or `zstd`. Absent headers mean
/// remote write 1 and snappy, as in Prometheus, Cortex and Mimir. Upper and lower case, and blanks around the
/// separators, make no difference, but for the `proto=` of remote write 2: stores that do not trim blanks would read
/// such a body as remote write 1, and find other series in it than we do.
media media_of(const http::fields& headers);

}  // namespace seriesgate
