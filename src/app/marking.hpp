/// A thread that writes markers to all stores.
#pragma once

#include <deque>
#include <thread>

#include "ingest/marker_writer.hpp"
#include "ingest/stores.hpp"
#include "net/asio.hpp"

namespace seriesgate {

/// Runs from its construction on. Threads: that which made it.
class marking {
    net::io_context io_;
    marker_sources from_;
    std::deque<marker_writer> writers_;  // the first store's, then the replicas'
    std::jthread thread_;

  public:
    /// What is passed, and what `from` refers to, outlives this.
    marking(marker_sources from, shared_stores& stores);
    marking(const marking&) = delete;
    marking& operator=(const marking&) = delete;
    ~marking() { stop(); }

    /// When no requests come any more: all markers are ended in the stores. Waits for that, but not for long.
    void leave();

  private:
    void stop();
};

}  // namespace seriesgate
