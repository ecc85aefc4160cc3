/// Which server is to be connected to next, by values alone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "config/redis_config.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
