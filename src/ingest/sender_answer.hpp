/// What the sender is told about its request, on top of what the upstream says.
#pragma once

#include <cstdint>

#include "http/reply.hpp"
#include "ingest/outgoing.hpp"

namespace seriesgate {

/// What the configuration has to do with answers.
struct answer_rules {
    unsigned reject_status = 400;  ///< config::reject_status
    bool discards = false;         ///< upstream_config::discard
};

/// What a sender of remote write 2 has been told about how much was written.
enum class confirmation : std::uint8_t {
    none_due,  ///< nothing: it was an error, or remote write 1, which says nothing
    given,
    partial,  ///< the store has said less than it was sent
    missing,  ///< nothing, for the store has not said it
};

/// Completes the upstream's answer, or the gate's own success where nothing was forwarded. A success becomes an error
/// where the sender is to be told of what was left out; `answer.rejected` says so then.
confirmation tell_sender(const outgoing& sent, const answer_rules& rules, reply& answer);

/// Those that a store is sent.
std::uint64_t sent_samples(const outgoing& sent);

/// Accepted samples of which the upstream says that it has them.
/// @param answer as it came, before tell_sender.
std::uint64_t stored_samples(const outgoing& sent, const answer_rules& rules, const reply& answer);

}  // namespace seriesgate
