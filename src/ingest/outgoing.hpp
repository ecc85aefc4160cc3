/// The request as it goes upstream, and the texts about everything left out of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "core/bytes.hpp"
#include "http/route_table.hpp"
#include "ingest/work_pool.hpp"
#include "net/http_fields.hpp"
#include "plan/plan.hpp"
#include "wire/splice.hpp"
#include "wire/translation.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

class series_limiter;

struct media {
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
media media_of(const http::fields& headers, bytes_view body);

/// Immutable, so any number of upstreams may read it for as long as they like.
using shared_body = std::shared_ptr<const std::string>;

/// Owns all its data, since another request uses the request_work by the time the upstream answers.
struct outgoing {
    protocol version = protocol::v1;  ///< the sender's
    body_action forward = body_action::nothing;
    shared_body body{};                   ///< compressed; null: none
    std::string_view content_type{};      ///< as in media
    std::string_view content_encoding{};  ///< as in media
    plan_counts decided{};
    translation_loss lost{};  ///< accepted, but not expressible in remote write 1
    entry_counts untranslated{};
    std::string untranslated_text{};  ///< text for the sender about `lost`; empty: none
    std::string refused_text{};
    std::string left_out_text{};
};

struct decided_request {
    http_request& from;
    const media& kind;
    std::string_view tenant;
    bytes_view decoded;
    const plan& decided;
};

/// Builds the outgoing request, without waiting. An unchanged body is the sender's own, moved and not copied; any other
/// body is compressed like the sender's.
/// @param work the decoded body and planner of `request`.
/// @return nothing if server.maxInflightBytes has no room for it.
std::optional<outgoing> make_outgoing(const decided_request& request, request_work& work, series_limiter& limiter,
                                      const upstream_config& upstream);

}  // namespace seriesgate
