/// Which request bodies can be read: Content-Type and Content-Encoding.
#pragma once

#include <string_view>

#include "upstream/net.hpp"

namespace seriesgate {

/// What is wrong with the media type or encoding, as one line, or an empty text for a body that can be read.
///
/// Readable: `application/x-protobuf`, alone or with `proto=prometheus.WriteRequest`, compressed with `snappy`. Absent
/// headers mean just that, as in Prometheus, Cortex and Mimir. Upper and lower case, and blanks around the
/// separators, make no difference.
std::string_view media_fault(const http::fields& headers);

}  // namespace seriesgate
