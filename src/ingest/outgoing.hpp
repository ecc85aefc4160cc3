/// What is sent in place of a request, and what its sender will be told of the difference.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "core/bytes.hpp"
#include "http/route_table.hpp"
#include "ingest/media.hpp"
#include "ingest/work_pool.hpp"
#include "plan/plan.hpp"
#include "wire/translation.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

class series_limiter;

/// Never changed again, so any number of upstreams may read it, and as long as they like.
using shared_body = std::shared_ptr<const std::string>;

/// Owns all that it names: the request's work is with another request by the time that the upstream answers.
struct outgoing {
    protocol version = protocol::v1;  ///< the sender's
    body_action forward = body_action::nothing;
    shared_body body{};                   ///< compressed; null if nothing goes on
    std::string_view content_type{};      ///< as media has it
    std::string_view content_encoding{};  ///< the same
    plan_counts decided{};
    translation_loss lost{};          ///< accepted, but a store of remote write 1 would not have it
    entry_counts untranslated{};      ///< its counts
    std::string untranslated_told{};  ///< what the sender is to be told of that; empty: nothing
    std::string refused_told{};       ///< and of refused series
    std::string left_out_told{};      ///< and of series that break a rule
};

/// A request that has been decoded and decided about.
struct decided_request {
    http_request& from;
    const media& kind;
    std::string_view tenant;
    bytes_view decoded;
    const plan& decided;
};

/// Everything between the decision and the upstream. A body that goes on unchanged is the sender's own, moved and not
/// copied; one that does not is compressed as the sender's was.
/// @param work what `request` has been decoded and planned with.
/// @return nothing if server.maxInflightBytes has no room for it.
std::optional<outgoing> make_outgoing(const decided_request& request, request_work& work, series_limiter& limiter,
                                      const upstream_config& upstream);

}  // namespace seriesgate
