/// Asking for this gate's shares, as the words of a command.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <string>
#include <vector>

#include "claim/claim.hpp"
#include "claim/shares.hpp"
#include "core/result.hpp"
#include "fleet/store_keys.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// shares.lua has the numbers of the states.
struct share_answer {
    time_point now{};  ///< by the store's clock
    share_state state = share_state::not_now;
    std::uint64_t number = 0;  ///< of this gate in that day, from 1; 0: none
};

/// What stands behind EVALSHA and the digest of shares_script, for redis_client::call_script_there.
/// @param gate a name that no other gate has, nor this one in another run.
std::vector<std::string> share_words(const claim_terms& terms, const std::string& gate, const store_keys& keys);

/// @return what is wrong with the reply, if it is none that the script makes.
result<share_answer, std::string> read_share_answer(const redisReply& reply);

}  // namespace seriesgate
