/// The working memory of a request, and the request as it goes upstream.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "claim/store_questions.hpp"
#include "config/config.hpp"
#include "core/bytes.hpp"
#include "http/inflight.hpp"
#include "http/route_table.hpp"
#include "ingest/body_format.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "series/fingerprint.hpp"
#include "wire/decompression.hpp"
#include "wire/splice.hpp"
#include "wire/translation.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

// --- The working memory of one request.

/// Working memory from the compressed body to the outgoing request. Belongs to one request at a time. The plan and the
/// decoded body point into it.
struct request_work {
    /// Buffers up to this size are kept for reuse: enough for usual requests (Prometheus 1 MB, vmagent 8 MiB).
    static constexpr std::size_t kept_buffer_bytes = 16u << 20;

    decode_buffer decoding;
    planner planning;
    store_questions questions;  ///< to the shared store of a fleet
    translator translate;
    body_codec codec;
    std::string rewritten;             ///< the decoded body that replaces the sender's
    std::optional<work_lease> memory;  ///< of server.maxInflightBytes, while in use

    /// @param labels shared by all workers.
    request_work(const config& settings, const hash_key& key, label_hash_cache& labels);

    /// Frees large buffers. Call it when the request needs no data in here any more.
    void shrink();
};

/// Creates a request_work when none is idle; server.maxInflightBytes bounds how many are in use. Keeps at most idle_max
/// of them, without large buffers. Threads: the worker's.
class work_pool {
    struct idle_pool {
        const config& settings;
        hash_key key;
        label_hash_cache& labels;
        std::vector<std::unique_ptr<request_work>> idle{};
        std::size_t in_use = 0;
    };
    struct putter_back {
        std::shared_ptr<idle_pool> to{};
        void operator()(request_work* done) const noexcept;
    };
    std::shared_ptr<idle_pool> idle_;

  public:
    /// One is usual; a second is needed while a request waits in the middle of its work.
    static constexpr std::size_t idle_max = 2;

    /// Returns the work to the pool when destroyed, before the request's own lease. May outlive the pool, since a
    /// coroutine may be destroyed with its io_context.
    using lease = std::unique_ptr<request_work, putter_back>;

    /// @param settings must outlive the pool and all leases.
    /// @param labels shared by all workers; must outlive them, too.
    work_pool(const config& settings, const hash_key& key, label_hash_cache& labels);

    /// @param memory the request's lease, which pays for the memory of the work.
    [[nodiscard]] lease take(inflight_lease& memory);

    [[nodiscard]] std::size_t idle() const noexcept { return idle_->idle.size(); }
    [[nodiscard]] std::size_t in_use() const noexcept { return idle_->in_use; }
};

// --- The request as it goes upstream.

/// Immutable, so any number of upstreams may read it for as long as they like.
using shared_body = std::shared_ptr<const std::string>;

/// Owns all its data, since another request uses the request_work by the time the upstream answers.
struct outgoing {
    protocol version = protocol::v1;  ///< the sender's
    body_action forward = body_action::nothing;
    shared_body body{};                   ///< compressed; null: none
    std::string_view content_type{};      ///< as in body_format
    std::string_view content_encoding{};  ///< as in body_format
    plan_counts decided{};
    translation_loss lost{};  ///< accepted, but not expressible in remote write 1
    entry_counts untranslated{};
    std::string untranslated_text{};  ///< text for the sender about `lost`; empty: none
    std::string refused_text{};
    std::string left_out_text{};
};

struct decided_request {
    http_request& from;
    const body_format& kind;
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
