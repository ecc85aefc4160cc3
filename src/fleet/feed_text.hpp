/// Reading what gates have taken in an hour, as the words of a command and its reply.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "fleet/fed_claim.hpp"
#include "fleet/store_keys.hpp"

namespace seriesgate {

/// 8 bytes each, the lowest first: so they stand in the feed.
std::string fingerprint_bytes(std::span<const std::uint64_t> fingerprints);

/// What stands behind EVALSHA and the digest of feed_script, for redis_client::call_script_there.
/// @param read how many of the hour's series have been read.
std::vector<std::string> feed_words(std::int64_t hour, std::uint64_t read, const store_keys& keys);

/// @param reply of whatever form.
/// @return what is wrong with it, if it is none that the script makes.
result<feed_answer, std::string> read_feed_answer(const redisReply& reply);

}  // namespace seriesgate
