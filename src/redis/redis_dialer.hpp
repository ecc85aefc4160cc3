/// Opens connections to servers: names, sockets, TLS.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
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

}  // namespace seriesgate
