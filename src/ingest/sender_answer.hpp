/// What the sender is told about its request, on top of what the upstream says.
#pragma once

#include <string>
#include <string_view>

#include "http/reply.hpp"
#include "ingest/ingestor.hpp"
#include "plan/plan.hpp"

namespace seriesgate {

/// What has been made of one request. Owns all of it: what a worker's buffers hold is another request's by the time
/// that the upstream answers.
struct outgoing {
    plan_counts decided;
    bool forwarded = false;     ///< something goes upstream
    bool changed = false;       ///< and it is `body`, not the sender's own
    bool translated = false;    ///< from remote write 2 to 1
    std::string body;           ///< compressed
    translation_loss lost;      ///< accepted, but a store of remote write 1 would not have it
    entry_counts untranslated;  ///< its counts
    std::string left_out;       ///< and what the sender is to be told of that; empty if there is nothing
    std::string rejection;      ///< what the sender of refused series is to be told; empty if nothing
};

/// How many series were refused, the limits that are spent, and an example for each: the first line says the essence.
/// For the request that was planned last, if the sender is to be told of a refusal.
std::string describe_rejected(const plan& decided, std::string_view tenant, ingestor& self);

/// Accepted samples of which the upstream says that it has them, by its own answer.
std::uint64_t stored_samples(const outgoing& sent, protocol version, const ingest_shared& shared, const reply& answer);

/// Completes the upstream's answer, or the gate's own success where nothing was forwarded.
void tell_sender(const outgoing& sent, protocol version, ingest_shared& shared, reply& answer);

}  // namespace seriesgate
