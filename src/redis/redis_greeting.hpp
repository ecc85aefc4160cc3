/// What is said first on a new connection.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "config/redis_config.hpp"
#include "core/result.hpp"
#include "net/asio.hpp"
#include "redis/redis_pipeline.hpp"
#include "redis/redis_shared.hpp"

namespace seriesgate {

/// What a server says of itself.
struct server_facts {
    std::string run_id;            ///< another one after each restart; empty where it is kept from us
    std::vector<host_port> nodes;  ///< of its cluster, if it is to be in one
};

/// Says who we are, if the configuration says so.
/// @return why the server does not take it
/// Everything must outlive it; this holds for the next one, too.
net::awaitable<std::optional<redis_error>> authenticate(redis_pipeline& line, const redis_config& config,
                                                        redis_shared& shared, std::chrono::steady_clock::time_point by);

/// AUTH, SELECT, INFO, and with sentinels ROLE, in a cluster CLUSTER SLOTS: what is in the way is found before a
/// command is sent.
/// @param at where the connection leads to
net::awaitable<result<server_facts, redis_error>> greet(redis_pipeline& line, const host_port& at,
                                                        const redis_config& config, redis_shared& shared,
                                                        std::chrono::steady_clock::time_point by);

}  // namespace seriesgate
