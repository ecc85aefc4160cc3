/// A sign of life in the store, and who else gives one.
#pragma once

#include <hiredis/hiredis.h>

#include <string>
#include <vector>

#include "core/result.hpp"
#include "fleet/fleet_member.hpp"
#include "fleet/store_keys.hpp"
#include "limit/window.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// Who a gate is to its fleet.
struct gate_identity {
    std::string name;          ///< tells it from the others
    std::string version;       ///< of the program
    std::string fingerprints;  ///< what they depend on: gates that differ cannot share
};

struct beat_answer {
    time_point now{};         ///< by the store's clock
    bool is_foreign = false;  ///< gates of this namespace make other fingerprints: this one has left no sign
    bool is_whole = false;    ///< this server has lost no counts
    std::string since{};      ///< and tells so since this recovery, see recovery.hpp
    std::vector<fleet_member> members{};
};

/// Leaves the sign and asks for those of the others. The first gate of a namespace says what fingerprints depend on; it
/// is remembered for two days without gates, and a gate for two hours.
const redis_script& beat_script();

/// What stands behind EVALSHA and the digest, for redis_client::call_script_there.
std::vector<std::string> beat_words(const gate_identity& who, const store_keys& keys);

/// @return what is wrong with the reply, if it is none that the script makes.
result<beat_answer, std::string> read_beat_answer(const redisReply& reply);

}  // namespace seriesgate
