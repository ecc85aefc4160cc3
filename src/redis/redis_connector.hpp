/// Finds the server with our keys, connects to it, authenticates.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/redis_config.hpp"
#include "core/result.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"
#include "redis/redis_pipeline.hpp"
#include "redis/redis_shared.hpp"

namespace seriesgate {

/// In a cluster: the node last named for our keys, until it fails; then all known nodes in turn, beginning with the
/// URL's. Without a cluster: always the URL's.
class redis_route {
    host_port first_;
    std::vector<host_port> known_;
    std::optional<host_port> moved_to_;
    std::size_t turn_ = 0;

  public:
    explicit redis_route(host_port first) : first_(std::move(first)) {}

    /// The server to connect to now.
    [[nodiscard]] const host_port& next() const noexcept;
    /// The server of next() failed, or is of no use.
    void failed() noexcept;
    /// A node has named the owner of our keys.
    void moved(host_port to) { moved_to_ = std::move(to); }
    /// All nodes of the cluster, as reported by one of them.
    void learned(std::vector<host_port> nodes) { known_ = std::move(nodes); }
};

struct redis_connection {
    std::shared_ptr<redis_pipeline> line;  ///< null: no connection
    host_port at;
    std::string run_id;  ///< new after each restart; empty if we may not see it
};

/// Connects to the URL's server, the master that sentinels name, or a node of a cluster. One attempt at a time.
/// Threads: that of its io_context. Must outlive its operations.
class redis_connector {
    using time_limit = std::chrono::steady_clock::time_point;
    using endpoints = std::vector<stream_endpoint>;
    using name_port = std::pair<std::string, std::uint16_t>;

    net::io_context& io_;
    const redis_config& config_;
    redis_shared& shared_;
    name_resolver resolver_;
    std::set<name_port> looking_up_;        // the resolver takes one after the other
    std::map<name_port, endpoints> known_;  // last addresses
    redis_route route_;
    std::size_t sentinel_ = 0;

  public:
    using connected = result<redis_connection, redis_error>;

    redis_connector(net::io_context& io, const redis_config& config, redis_shared& shared)
        : io_(io), config_(config), shared_(shared), resolver_(io), route_({config.host, config.port}) {}
    redis_connector(const redis_connector&) = delete;
    redis_connector& operator=(const redis_connector&) = delete;

    net::awaitable<connected> connect(time_limit by);
    net::awaitable<connected> connect_to(const host_port& to, time_limit by);

    /// The server of connect() failed or is of no use: the next sentinel or node is due.
    void failed() noexcept;
    /// A node of the cluster has named the owner of our keys.
    void moved(const host_port& to) { route_.moved(to); }

  private:
    using opened = result<std::shared_ptr<redis_pipeline>, redis_error>;

    /// Tries all addresses of a host, each for a part of the time.
    /// @param to without a host: the unix socket of the configuration
    net::awaitable<opened> open(const host_port& to, time_limit by);
    net::awaitable<result<endpoints, redis_error>> look_up(const host_port& to, time_limit by);

    /// Authenticates, if configured. @return the error, if the server refuses.
    net::awaitable<std::optional<redis_error>> authenticate(redis_pipeline& line, time_limit by);
    /// Sends AUTH, SELECT and INFO; with sentinels also ROLE, in a cluster CLUSTER SLOTS. So obstacles show before the
    /// first command. Fills in the run_id.
    net::awaitable<std::optional<redis_error>> greet(redis_connection& made, time_limit by);

    net::awaitable<result<host_port, redis_error>> find_master(time_limit by);
    net::awaitable<result<host_port, redis_error>> ask_sentinel(const host_port& at, time_limit by);
};

}  // namespace seriesgate
