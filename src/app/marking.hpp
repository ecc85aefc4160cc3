/// Writes markers to all stores.
#pragma once

#include <deque>

#include "ingest/marker_writer.hpp"
#include "ingest/stores.hpp"
#include "net/asio.hpp"

namespace seriesgate {

/// Threads: the loop's, but for leave().
class marking {
    net::io_context& loop_;
    marker_sources from_;
    std::deque<marker_writer> writers_;  // the first store's, then the replicas'

  public:
    /// What is passed, and what `from` refers to, outlives the loop's run. The loop does not run yet.
    marking(net::io_context& loop, marker_sources from, shared_stores& stores);
    marking(const marking&) = delete;
    marking& operator=(const marking&) = delete;

    /// When no requests come any more: all markers are ended in the stores. Waits for that, but not for long.
    /// Threads: any that is another loop's.
    net::awaitable<void> leave();
};

}  // namespace seriesgate
