/// What servers say of themselves and of others, read out of their replies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/redis_config.hpp"
#include "redis/redis_error.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {

/// Of INFO's reply the value of a field; empty if there is none.
[[nodiscard]] std::string_view info_field(std::string_view info, std::string_view name) noexcept;

/// Of SENTINEL GET-MASTER-ADDR-BY-NAME; nothing if the sentinel knows none of that name.
[[nodiscard]] std::optional<host_port> sentinel_master(const redisReply& reply);

/// Of ROLE: "master", "slave", "sentinel"; empty for what is no such reply.
[[nodiscard]] std::string_view role_in(const redisReply& reply) noexcept;

/// Of CLUSTER SLOTS: all nodes, each once, at most cluster_nodes_max.
/// @param asked where an address without a host is
[[nodiscard]] std::vector<host_port> cluster_nodes(const redisReply& reply, const host_port& asked);

inline constexpr std::size_t cluster_nodes_max = 64;

/// Where a node of a cluster sends us: "MOVED 3999 127.0.0.1:6381", or ASK.
struct redirection {
    bool once = false;  ///< ASK: for this command only
    host_port to;

    bool operator==(const redirection&) const = default;
};

/// @param asked as above
/// @return nothing for another error
[[nodiscard]] std::optional<redirection> redirection_in(const redis_error& error, const host_port& asked);

}  // namespace seriesgate
