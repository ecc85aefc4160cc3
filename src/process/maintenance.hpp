/// Periodic work beside the requests: filters, demand, delivery, markers, files that change.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "admin/delivery_record.hpp"
#include "admin/gate_counts.hpp"
#include "core/synchronization.hpp"
#include "ingest/ingest_shared.hpp"
#include "ingest/marker_writer.hpp"
#include "limit/window.hpp"
#include "net/async.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

class observed_demand;

// Spawn each of these once; the arguments outlive the event loop. `now` is the clock that decides about requests.

/// Prepares the limiter's filters ahead of need, so that no request allocates them. Also ends the sampler's hours, and
/// logs leaps of the clock. @param admits notified on the first new series after a pause.
net::awaitable<void> maintain(series_limiter& limiter, series_sampler& sampler, std::function<time_point()> now,
                              std::shared_ptr<async_event> admits);

/// Records the demand of the limiter's windows.
net::awaitable<void> watch_demand(observed_demand& demand, series_limiter& limiter, std::function<time_point()> now);

/// Records answers of the stores.
net::awaitable<void> watch_delivery(guarded<delivery_record>& into, std::function<gate_counts()> counts,
                                    std::function<time_point()> now);

/// Writes markers to all stores. Threads: the loop's, except leave().
class marking {
    net::io_context& loop_;
    marker_sources from_;
    std::deque<marker_writer> writers_;  // first the first store's, then the replicas'

  public:
    /// Call it before the loop runs. All arguments, and what `from` refers to, outlive the loop's run.
    marking(net::io_context& loop, marker_sources from, shared_stores& stores);
    marking(const marking&) = delete;
    marking& operator=(const marking&) = delete;

    /// Call it without requests: ends all markers in the stores. Waits at most two seconds. Threads: of another loop.
    net::awaitable<void> leave();
};

/// Rereads files that have changed: certificates, keys, passwords. Bad ones only cause a log line. May block and throw.
using file_check = std::function<void(const file_look&)>;

/// Runs the checks once a second, and on request.
class file_poller {
    std::atomic<bool> is_asked_ = false;
    guarded<std::weak_ptr<async_event>> waits_;  // of run(); ends with its event loop

  public:
    /// Spawn it once, on an event loop that may block on disks.
    net::awaitable<void> run(std::vector<file_check> checks);

    /// Requests a check now, which takes the files as complete. Does not wait. Threads: any.
    void ask();
};

}  // namespace seriesgate
