/// Entering and leaving the list of gates that accept incumbents at once, as the words of a command.
#pragma once

#include <hiredis/hiredis.h>

#include <string>
#include <vector>

#include "claim/claim.hpp"
#include "core/result.hpp"
#include "fleet/store_keys.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// telling.lua has the numbers of the states.
struct telling_answer {
    time_point now{};  ///< by the store's clock
    telling_state state = telling_state::not_open;
};

/// What stands behind EVALSHA and the digest of telling_script, for redis_client::call_script_there.
/// @param gate a name that no other gate has, nor this one in another run.
std::vector<std::string> enter_words(const claim_terms& terms, const std::string& gate, const store_keys& keys);
std::vector<std::string> leave_words(const claim_terms& terms, const std::string& gate, const store_keys& keys);

/// @return what is wrong with the reply, if it is none that the script makes.
result<telling_answer, std::string> read_telling_answer(const redisReply& reply);

}  // namespace seriesgate
