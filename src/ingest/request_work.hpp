/// What one request is worked on with, from its compressed body to what goes upstream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "claim/questions.hpp"
#include "config/config.hpp"
#include "http/inflight.hpp"
#include "plan/planner.hpp"
#include "series/fingerprint.hpp"
#include "wire/decompression.hpp"
#include "wire/splice.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

/// Belongs to one request at a time, whatever its worker does meanwhile: see work_pool. A plan and the decoded body
/// point into it.
struct request_work {
    /// Of the decoded and the rewritten body: enough for usual requests (Prometheus 1 MB, vmagent 8 MiB).
    static constexpr std::size_t kept_buffer_bytes = 16u << 20;

    decode_buffer decoding;
    planner planning;
    questions asked;  ///< of the store of a fleet
    translator translate;
    body_codec codec;
    std::string rewritten;             ///< decoded: what goes upstream in place of the sender's body
    std::optional<work_lease> memory;  ///< of server.maxInflightBytes, while it belongs to a request

    /// @param key of this installation.
    /// @param labels that all workers know.
    request_work(const config& settings, const hash_key& key, known_labels& labels);

    /// Gives the memory of a giant back; nothing of the request is needed any more.
    void shrink();
};

}  // namespace seriesgate
