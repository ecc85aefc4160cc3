/// Reading what gates have taken in an hour, as the words of a command and its reply.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "fleet/heard_counts.hpp"
#include "fleet/store_keys.hpp"

namespace seriesgate {

/// Claims in one reply, at most: some 200 KB.
inline constexpr std::size_t fed_claims_max = 128;

/// What one claim has taken.
struct fed_claim {
    std::uint64_t upto = 0;  ///< series of the hour with these
    std::uint64_t gate = 0;  ///< whose claim it was, see claim_terms
    std::vector<std::uint64_t> fingerprints{};
    std::vector<fed_count> hourly{};        ///< of the budgets that have grown
    std::vector<fed_count> daily{};         ///< the same
    std::vector<std::uint64_t> families{};  ///< of histograms that have begun with these series

    friend bool operator==(const fed_claim&, const fed_claim&) = default;
};

/// The next of them.
struct feed_answer {
    bool is_whole = false;     ///< the server has lost no counts; else nothing is said
    std::uint64_t series = 0;  ///< that the hour has
    std::vector<fed_claim> claims{};
};

/// 8 bytes each, the lowest first: so they stand in the feed.
std::string fingerprint_bytes(std::span<const std::uint64_t> fingerprints);

/// What stands behind EVALSHA and the digest of feed_script, for redis_client::call_script_there.
/// @param read how many of the hour's series have been read.
std::vector<std::string> feed_words(std::int64_t hour, std::uint64_t read, const store_keys& keys);

/// @param reply of whatever form.
/// @return what is wrong with it, if it is none that the script makes.
result<feed_answer, std::string> read_feed_answer(const redisReply& reply);

}  // namespace seriesgate
