/// Calls, heartbeats and reads of the feed as words for the store's scripts, and its replies as answers.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "claim/store_call.hpp"
#include "core/result.hpp"
#include "fleet/store_keys.hpp"

namespace seriesgate {

/// The two scripts, as CMake has put them into the program, for EVAL. store_windows.lua and store_gate.lua describe
/// their words.
extern const std::string_view store_script;  ///< counts claims and passes
extern const std::string_view gate_script;   ///< hears gates and lets them read the feed

/// What follows EVALSHA and the digest: the number of keys, the keys, the arguments. The last word is empty and to be
/// replaced by the server's run_id, see redis_client::call_script.
/// @param asked within the bounds of claim/store_call.hpp.
std::vector<std::string> call_words(const store_call& asked, const gate_terms& terms, const store_keys& keys);
std::vector<std::string> heartbeat_words(const heartbeat& of, const store_keys& keys);
/// @param read series of the feed that the gate has read.
std::vector<std::string> feed_read_words(std::string_view epoch, std::uint64_t read, const store_keys& keys);

/// @param reply of any form: what the scripts never answer is an error, and so is what the store says instead.
/// @return the answer, or in words what is wrong with it.
result<store_answer, std::string> read_answer(const redisReply& reply, const store_call& asked);
result<heartbeat_answer, std::string> read_heartbeat_answer(const redisReply& reply);
result<feed_page, std::string> read_feed_page(const redisReply& reply);

}  // namespace seriesgate
