/// What a request body is, by its Content-Type and Content-Encoding.
#pragma once

#include <string>
#include <string_view>

#include "core/bytes.hpp"
#include "net/http_fields.hpp"
#include "wire/splice.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

struct media {
    protocol version = protocol::v1;
    compression coding = compression::snappy;
    /// What is wrong, as one line; empty for a body that can be read.
    std::string fault{};
    /// The headers as they go on, where the sender's spelling is one that stores read in different ways, or does not
    /// fit the body; empty: as they came. Literals.
    std::string_view content_type{};
    std::string_view content_encoding{};
};

/// Readable: `application/x-protobuf`, alone or with `proto=prometheus.WriteRequest` (remote write 1) or
/// `proto=io.prometheus.write.v2.Request` (remote write 2), compressed with `snappy` or `zstd`. Absent or empty headers
/// mean remote write 1 and snappy, as in Prometheus, Cortex and Mimir. `application/vnd.google.protobuf` is remote
/// write 1. Upper and lower case, blanks around separators, quotes, empty elements of a list and other parameters make
/// no difference, and go no further: stores compare the text, or do not trim blanks.
///
/// Which of the two compressions it is, the body says and not the header: a vmagent of 1.88 to 1.115 sends what has
/// lain in its queue under the header that it uses now (VictoriaMetrics issues 5301 and 5344).
media media_of(const http::fields& headers, bytes_view body);

}  // namespace seriesgate
