/// The threads that serve connections, and what they answer with.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "admin/admin_service.hpp"
#include "config/config.hpp"
#include "http/access_control.hpp"
#include "http/route_table.hpp"
#include "http/worker.hpp"
#include "ingest/ingestor.hpp"
#include "net/asio.hpp"
#include "net/event_loop.hpp"
#include "process/gate_metrics.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- Every path of the gate, and who answers it.

/// The routes of one thread: what admin answers, and ingestion.
/// @param admin, ingest of the same thread.
/// @param tenant_path a further path of ingestion (tenants.path), which outlives the routes; empty: none.
route_table make_routes(admin_answers& admin, const request_handler& ingest, std::string_view tenant_path = {});

/// In place of ingestion at the front desk: a request of this kind goes to a worker with its first byte.
request_handler never_on_the_acceptor();

struct shared_cardinality;
class fleet_shared;
class series_limiter;

/// What all of them share, room by room. Threads: any.
struct serving_shared {
    http_shared http;
    shared_stores stores;
    ingest_shared ingest;
    admin_shared admin;

    /// Everything that is passed outlives this.
    /// @param fleet null for a gate that counts alone
    serving_shared(const config& settings, series_limiter& limiter, const hash_key& key, gate_metrics& metrics,
                   access_control& access, shared_cardinality& noted, fleet_shared* fleet);
};

/// One thread with what answers on it.
struct serving_thread {
    worker self;  // first, so that it is destroyed last: see worker.hpp
    std::optional<ingestor> ingest;
    admin_answers admin;
    service offered;
    std::optional<service>
        admin_server;  ///< the front desk's, where admin.listen is; `offered` is ingestion alone then

    enum class role { worker, acceptor };

    /// @param as the front desk has no ingestion.
    serving_thread(serving_shared& shared, role as);
    serving_thread(const serving_thread&) = delete;
    serving_thread& operator=(const serving_thread&) = delete;
};

using worker_threads = std::vector<std::unique_ptr<serving_thread>>;

/// As many as are configured, or one for each core. They do not run yet.
worker_threads make_workers(serving_shared& shared, const server_config& settings);
[[nodiscard]] std::size_t worker_count(const server_config& settings) noexcept;

/// What a listener deals connections to.
std::vector<service*> services_of(const worker_threads& workers);

// --- The workers at work, on a thread each.

class running_workers {
    const worker_threads& workers_;
    std::vector<std::jthread> threads_;

  public:
    /// What is passed outlives this.
    running_workers(const worker_threads& workers, const config& settings, const thread_starter& by);
    running_workers(const running_workers&) = delete;
    running_workers& operator=(const running_workers&) = delete;
    ~running_workers() { stop(); }

    void stop() noexcept;

  private:
    void start(std::size_t number, const config& settings, const thread_starter& by);
};

/// When the worker that has waited for its turn for the longest was last seen to work. Threads: any.
[[nodiscard]] std::chrono::steady_clock::time_point oldest_turn(const worker_threads& workers) noexcept;

// --- Checks passwords beside all requests: each takes a good part of a second.

/// Checks one after the other. Spawn it once, on an event loop of its own, before others use `access`.
net::awaitable<void> check_passwords(access_control& access);

}  // namespace seriesgate
