/// Finds the server that has our keys, and connects to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "net/asio.hpp"
#include "redis/redis_dialer.hpp"
#include "redis/redis_route.hpp"

namespace seriesgate {

/// A connection that is ready for commands, and whom it leads to.
struct redis_connection {
    std::shared_ptr<redis_pipeline> line;  ///< nothing: there is no connection
    host_port at;
    std::string run_id;
};

/// The URL's server, the master that sentinels name, or a node of a cluster. One attempt at a time.
/// Threads: the one of its io_context. It must outlive what it has begun.
class redis_connector {
    using time_limit = std::chrono::steady_clock::time_point;

    const redis_config& config_;
    redis_shared& shared_;
    redis_dialer dialer_;
    redis_route route_;
    std::size_t sentinel_ = 0;  // who is asked first

  public:
    using connected = result<redis_connection, redis_error>;

    redis_connector(net::io_context& io, const redis_config& config, redis_shared& shared)
        : config_(config), shared_(shared), dialer_(io, config, shared), route_({config.host, config.port}) {}

    /// To the server that is next.
    net::awaitable<connected> connect(time_limit by);
    /// To that one.
    net::awaitable<connected> connect_to(const host_port& to, time_limit by);

    /// What connect() leads to is not there, or of no use: another sentinel or node is next.
    void failed() noexcept;
    /// A node of the cluster says where our keys are.
    void moved(const host_port& to) { route_.moved(to); }

  private:
    net::awaitable<result<host_port, redis_error>> find_master(time_limit by);
    net::awaitable<result<host_port, redis_error>> ask_sentinel(const host_port& at, time_limit by);
};

}  // namespace seriesgate
