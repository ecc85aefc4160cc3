/// The format of a body, by its headers and first bytes: the protocol and the compression.
#pragma once

#include <string>
#include <string_view>

#include "core/bytes.hpp"
#include "net/http_fields.hpp"
#include "wire/splice.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

struct body_format {
    protocol version = protocol::v1;
    compression coding = compression::snappy;
    /// The error as one line; empty if the body can be read.
    std::string fault{};
    /// The headers to send instead, where stores read the sender's spelling differently or it does not fit the body.
    /// Empty: send the sender's. Literals.
    std::string_view content_type{};
    std::string_view content_encoding{};
};

/// Accepts `application/x-protobuf`, alone or with `proto=prometheus.WriteRequest` (remote write 1) or
/// `proto=io.prometheus.write.v2.Request` (remote write 2), compressed with `snappy` or `zstd`. Absent or empty headers
/// mean remote write 1 and snappy, as in Prometheus, Cortex and Mimir. `application/vnd.google.protobuf` is remote
/// write 1. Ignores case, blanks around separators, quotes, empty list elements and other parameters. They are not
/// forwarded, since stores compare the text or do not trim blanks.
///
/// The body decides the compression, not the header: vmagent 1.88 to 1.115 sends queued blocks under the header that it
/// uses now (VictoriaMetrics issues 5301 and 5344).
body_format body_format_of(const http::fields& headers, bytes_view body);

}  // namespace seriesgate
