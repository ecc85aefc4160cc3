/// What follows the clock, beside all requests.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "admin/gate_counts.hpp"
#include "core/synchronization.hpp"
#include "ingest/marker_writer.hpp"
#include "ingest/stores.hpp"
#include "limit/window.hpp"
#include "net/asio.hpp"
#include "net/async.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

class series_sampler;
class observed_demand;
class series_limiter;

/// Has the limiter's filters made before they are needed. It allocates, so no request does it. Logs a leap of the clock
/// that is in doubt. Ends the hours of what is noted, too. Spawn it once; what is passed outlives the event loop.
/// @param now the time by which requests are decided.
/// @param admits is notified when new series come after none have.
net::awaitable<void> maintain(series_limiter& limiter, series_sampler& noted, std::function<time_point()> now,
                              std::shared_ptr<async_event> admits);

/// Takes down the demand of the limiter's windows. Spawn it once; what is passed outlives the event loop.
/// @param now the time by which requests are decided.
net::awaitable<void> watch_demand(observed_demand& demand, series_limiter& limiter, std::function<time_point()> now);

/// Takes down what stores have answered. Spawn it once; what is passed outlives the event loop.
net::awaitable<void> watch_delivery(guarded<delivery_record>& into, std::function<gate_counts()> counts,
                                    std::function<time_point()> now);

// --- Writes markers to all stores.

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

// --- Looks again at files whose contents may change while the gate runs: certificates, keys, passwords.

/// One or more files. Called now and then: reads them again if they have changed, and keeps what was there before,
/// and says so in the log, if they are no good. May block on files; may throw.
using file_check = std::function<void(const file_look&)>;

/// When to look: once a second, and when it is asked for.
class file_poller {
    std::atomic<bool> is_asked_ = false;
    guarded<std::weak_ptr<async_event>> waits_;  // run(); goes with its event loop

  public:
    /// Calls each now and then. Spawn it once, on an event loop that may wait for disks.
    net::awaitable<void> run(std::vector<file_check> checks);

    /// Has all of them looked at now, and taken as they are: they are whole. Waits for nothing. Threads: any.
    void ask();
};

}  // namespace seriesgate
