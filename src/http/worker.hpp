/// One thread that serves connections, and what all of them share.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <chrono>
#include <string>

#include "access/access_control.hpp"
#include "config/config.hpp"
#include "http/closings_log.hpp"
#include "http/http_metrics.hpp"
#include "http/inflight.hpp"
#include "http/life_stage.hpp"
#include "http/queue_delay.hpp"
#include "http/rejection_log.hpp"
#include "http/sender_streams.hpp"
#include "net/asio.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// What all threads that serve connections share. Everything in it may be used by any of them at any time.
struct http_shared {
    const server_config& settings;
    const std::string& tenant_header;  ///< its name: the log says whose request was rejected
    http_metrics& metrics;
    access_control& access;
    inflight_room inflight{metrics.inflight_bytes, settings.inflight_bytes_max, settings.decoded_bytes_max};
    rejection_log rejections{};
    closings_log closings{};  ///< the front desk's
    process_life life{};
};

/// One thread with its io_context. A session never leaves it.
/// Threads: everything but `io` belongs to the thread that runs `io`.
struct worker {
    // First, so that they are destroyed last: the frames of unfinished sessions go with `io` and use nothing else.
    sender_streams senders;
    net::io_context io{1};
    net::executor_work_guard<net::io_context::executor_type> keep_running{io.get_executor()};

    http_shared& shared;
    queue_delay delay{shared.settings.queue_delay_max};
    /// When its probe last had its turn, see delay_probe.hpp. Threads: any.
    std::atomic<std::chrono::steady_clock::time_point> last_turn{monotonic_clock::now()};

    explicit worker(http_shared& state) : shared(state) {}
};

}  // namespace seriesgate
