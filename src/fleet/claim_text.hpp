/// A claim as the words of a command, and the store's reply as an answer.
#pragma once

#include <hiredis/hiredis.h>

#include <string>
#include <vector>

#include "claim/claim.hpp"
#include "core/result.hpp"
#include "fleet/store_keys.hpp"

namespace seriesgate {

/// What stands behind EVALSHA and the script's digest, or behind EVAL and the script: the number of keys, the keys, the
/// arguments. claim.lua says which.
///
/// @param asked within the bounds of claim.hpp, its runs of as many series as there are fingerprints.
std::vector<std::string> claim_words(const claim& asked, const claim_terms& terms, const store_keys& keys);

/// @param reply of whatever form: what claim.lua does not say is an error, and so is what the store says instead.
/// @return the answer to `asked`, or what is wrong with it, in words.
result<claim_answer, std::string> read_claim_answer(const redisReply& reply, const claim& asked);

}  // namespace seriesgate
