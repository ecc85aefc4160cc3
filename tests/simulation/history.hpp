/// A random history of a gate, its senders and its stores, and what has to hold whatever happens in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace seriesgate::testing {

/// What came of one.
struct history_outcome {
    std::vector<std::string> violations{};  ///< none: all held
    std::size_t requests = 0;
    std::size_t accepted = 0;  ///< answered with success
    std::size_t faults = 0;    ///< of stores and senders
};

/// The seed chooses senders (remote write 1 and 2, whole, in pieces, broken off, that do not read), stores (slow,
/// reset, half answers, interim answers, 4xx, 5xx, silent, away), limits, tenants, endpoints, replicas, reloads and the
/// hour's edge. Then all faults end. It has to hold that
/// - no budget is above its maximum;
/// - a sample of a request that was answered with success is at the store as it was sent, or was counted as refused;
/// - nothing is at a store that was not sent;
/// - every sender comes to an end, and after the faults every request is answered with success;
/// - memory in flight, requests and connections come to nothing.
/// Threads: one.
[[nodiscard]] history_outcome run_history(std::uint64_t seed);

}  // namespace seriesgate::testing
