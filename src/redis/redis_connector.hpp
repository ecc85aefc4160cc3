/// Finds the server that has our keys, and connects to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/redis_config.hpp"
#include "core/result.hpp"
#include "net/asio.hpp"
#include "net/socket.hpp"
#include "net/timed_stream.hpp"
#include "redis/redis_pipeline.hpp"
#include "redis/redis_shared.hpp"

namespace seriesgate {

// --- Opens connections to servers: names, sockets, TLS.

/// One at a time. Threads: the one of its io_context. It must outlive what it has begun.
class redis_dialer {
    using time_limit = std::chrono::steady_clock::time_point;
    using endpoints = std::vector<stream_endpoint>;

    net::io_context& io_;
    const redis_config& config_;
    redis_shared& shared_;
    name_resolver resolver_;
    bool looking_up_ = false;                              // the resolver does not answer two questions at a time
    std::map<std::string, endpoints, std::less<>> known_;  // of names, as they were last found

  public:
    using opened = result<std::shared_ptr<redis_pipeline>, redis_error>;

    redis_dialer(net::io_context& io, const redis_config& config, redis_shared& shared)
        : io_(io), config_(config), shared_(shared), resolver_(io) {}
    redis_dialer(const redis_dialer&) = delete;
    redis_dialer& operator=(const redis_dialer&) = delete;

    /// Tries all addresses of a host, each for its part of the time.
    /// @param to without a host: the unix socket of the configuration
    net::awaitable<opened> open(const host_port& to, time_limit by);

  private:
    net::awaitable<result<endpoints, redis_error>> look_up(const host_port& to, time_limit by);
    net::awaitable<opened> open_at(const host_port& to, const stream_endpoint& at, time_limit by);
    void take(const std::string& host, const endpoints& found);
};

// --- What is said first on a new connection.

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

// --- Which server is to be connected to next, by values alone.

/// Of a cluster: the node that was named last for our keys, until it fails; then all that are known in turn, the URL's
/// first. Without a cluster that is always the URL's.
class redis_route {
    host_port first_;
    std::vector<host_port> known_;
    std::optional<host_port> moved_to_;
    std::size_t turn_ = 0;

  public:
    explicit redis_route(host_port first) : first_(std::move(first)) {}

    /// Where to go now.
    [[nodiscard]] const host_port& next() const noexcept;
    /// Nothing came of next(), or it is of no use any more.
    void failed() noexcept;
    /// A node says where our keys are.
    void moved(host_port to) { moved_to_ = std::move(to); }
    /// All nodes of the cluster, as one of them knows them.
    void learned(std::vector<host_port> nodes) { known_ = std::move(nodes); }
};

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
