/// The handlers of the admin routes: health, readiness, pages, reload.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "admin/page_queue.hpp"
#include "base/metrics.hpp"
#include "core/synchronization.hpp"
#include "http/route_table.hpp"
#include "http/worker.hpp"
#include "net/async.hpp"

namespace seriesgate {

// --- GET /config.

/// The configuration in force as text, made when it changes and not for each request.
using config_page = guarded<page_text, std::mutex>;

// --- Reload.

struct reload_outcome {
    bool ok = false;
    std::string text;  ///< lines: the errors, or what was taken over
};

/// Queue with a single key, since there is one configuration.
using reload_queue = single_flight_queue<std::monostate, reload_outcome>;

// --- Reload metrics.

struct reload_metrics {
    counter requests;       ///< by SIGHUP and POST /-/reload
    counter reads;          ///< times that the configuration was read for them
    gauge successful;       ///< 1 unless the last reload failed
    gauge success_seconds;  ///< time of the last successful one, since 1970
    gauge web_successful;   ///< 1 if the web configuration file, and what it names, is in force as it is
};

void write(exposition& out, const reload_metrics& metrics);

struct admin_shared {
    const lifecycle& life;
    reload_metrics& reload;
    /// Why the gate is not ready; empty: no particular reason.
    std::function<std::string()> waits_for = [] { return std::string{}; };
    /// Progress of the warm start; empty: none goes on.
    std::function<std::string()> warms_up = [] { return std::string{}; };
    std::vector<std::string> labels{};  ///< labels whose values are counted, see cardinality_tracker
    page_queue pages{};                 ///< for /metrics and /stats, see make_pages()
    page_queue questions{};             ///< for / and the API; metrics never wait for these
    reload_queue reloads{};
    config_page in_force{std::make_shared<const std::string>()};
};

/// The handlers of one thread, one for each route. Threads: the one that runs `io`.
class admin_answers {
    admin_shared& shared_;
    net::io_context& io_;

  public:
    admin_answers(admin_shared& shared, net::io_context& io) : shared_(shared), io_(io) {}

    net::awaitable<reply> healthy(const http_request& request);
    net::awaitable<reply> ready(const http_request& request);
    net::awaitable<reply> metrics(const http_request& request);
    net::awaitable<reply> stats(const http_request& request);
    net::awaitable<reply> status(const http_request& request);
    net::awaitable<reply> configuration(const http_request& request);
    net::awaitable<reply> api(api_path path, const http_request& request);
    /// POST. Waits for the outcome.
    net::awaitable<reply> reload(const http_request& request);

  private:
    net::awaitable<reply> page(api_question key, std::string_view type, bool is_head);
};

}  // namespace seriesgate
