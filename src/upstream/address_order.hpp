/// Which of a backend's addresses is tried first.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "net/socket.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// Connections begin with each address in turn, and an address that did not accept one comes last for a while.
/// Threads: one.
class address_order {
  public:
    using clock = monotonic_clock;
    using endpoints = std::vector<stream_endpoint>;

    static constexpr std::chrono::seconds memory{30};

  private:
    std::vector<std::pair<stream_endpoint, clock::time_point>> bad_;  // until when

  public:
    /// @param turn counts the connections.
    [[nodiscard]] endpoints of(const endpoints& known, std::size_t turn, clock::time_point now);

    void failed(const stream_endpoint& at, clock::time_point now);
    void connected(const stream_endpoint& at);
};

}  // namespace seriesgate
