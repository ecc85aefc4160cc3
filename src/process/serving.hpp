/// The serving threads, their routes, and how they stop without an error for any sender.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "admin/admin_service.hpp"
#include "config/config.hpp"
#include "http/access_control.hpp"
#include "http/route_table.hpp"
#include "http/server.hpp"
#include "http/worker.hpp"
#include "ingest/ingestor.hpp"
#include "net/async.hpp"
#include "net/event_loop.hpp"
#include "process/gate_metrics.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Every path of the gate, for one thread.
/// @param admin,ingest of the same thread.
/// @param tenant_path a further ingestion path (tenants.path), which outlives the routes; empty: none.
route_table make_routes(admin_answers& admin, const request_handler& ingest, std::string_view tenant_path = {});

/// The shared state of all serving threads, by room. Threads: any.
struct serving_shared {
    http_shared http;
    shared_stores stores;
    ingest_shared ingest;
    admin_shared admin;

    /// All arguments outlive this.
    /// @param fleet null for a single gate.
    serving_shared(const config& settings, series_limiter& limiter, const hash_key& key, gate_metrics& metrics,
                   access_control& access, shared_cardinality& cardinality, warm_series& warm, fleet_shared* fleet);
};

struct serving_thread {
    worker thread;  // first, so destroyed last: see worker.hpp
    std::optional<ingestor> ingest;
    admin_answers admin;
    service offered;                      ///< with admin.listen only ingestion
    std::optional<service> admin_server;  ///< of the acceptor thread with admin.listen

    enum class role { worker, acceptor };

    /// @param as the acceptor thread has no ingestion.
    serving_thread(serving_shared& shared, role as);
};

using worker_threads = std::vector<std::unique_ptr<serving_thread>>;

/// As configured, or one per core. They do not run yet.
worker_threads make_workers(serving_shared& shared, const server_config& settings);
[[nodiscard]] std::size_t worker_count(const server_config& settings) noexcept;

std::vector<service*> services_of(const worker_threads& workers);

class running_workers {
    const worker_threads& workers_;
    std::vector<std::jthread> threads_;

  public:
    /// Starts one thread per worker. All arguments outlive this.
    running_workers(const worker_threads& workers, const config& settings, const thread_starter& by);
    running_workers(const running_workers&) = delete;
    running_workers& operator=(const running_workers&) = delete;
    ~running_workers() { stop(); }

    void stop() noexcept;

  private:
    void start(std::size_t number, const config& settings, const thread_starter& by);
};

/// The oldest last turn of all workers. Threads: any.
[[nodiscard]] std::chrono::steady_clock::time_point oldest_turn(const worker_threads& workers) noexcept;

/// What serves requests.
struct serving_parts {
    server& senders;
    server* admin_server;  ///< null: the sender listener serves the admin paths
    serving_thread& acceptor;
    const worker_threads& workers;
    const shared_stores& stores;
};

/// Waits until the replica copies that no sender waits for are finished, at most server.drainTimeout.
net::awaitable<void> finish_copies(serving_parts of);

/// Stops accepting senders, then waits until all requests and replica copies are finished, at most server.drainTimeout.
/// Threads: the acceptor thread.
/// @param why the log's reason, for example SIGTERM.
/// @param is_impatient polled; true ends the wait.
net::awaitable<void> drain(serving_parts of, std::string_view why, std::function<bool()> is_impatient);

/// The time that senders get in a drain to finish sending or reading.
[[nodiscard]] std::chrono::nanoseconds sender_grace(std::chrono::nanoseconds drain_timeout) noexcept;

/// Checks queued passwords, each in a good part of a second. Spawn it once, on its own loop, before `access` is used.
net::awaitable<void> check_passwords(access_control& access);

}  // namespace seriesgate
