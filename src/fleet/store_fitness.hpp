/// Whether a server can hold a fleet's counts.
#pragma once

#include <string>
#include <string_view>

namespace seriesgate {

/// What the server says of itself under INFO.
struct store_facts {
    std::string version;           ///< redis_version: "7.0.15"; of Valkey the one that it is compatible with
    std::string maxmemory_policy;  ///< "noeviction"; empty if it does not say
    std::string server;            ///< for people: "Redis 7.0.15", "Valkey 8.1.1"
};

/// @param info the replies to INFO server and INFO memory, one behind the other.
store_facts read_store_facts(std::string_view info);

/// Why it cannot, in a line that says which setting to change; empty if it can. What it does not say is not held
/// against it. An evicted count would let more series pass than a limit allows.
std::string unfitness_of(const store_facts& facts);

}  // namespace seriesgate
