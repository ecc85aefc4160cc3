#include "process/serving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cassert>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "fleet/fleet_shared.hpp"
#include "ingest/warm_series.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view read_only = "GET, HEAD";
constexpr std::string_view write_only = "POST";

/// Replaces ingestion on the acceptor thread, which passes such requests to a worker.
net::awaitable<reply> never_on_the_acceptor(http_request&) {
    assert(false && "a worker's request on the acceptor thread");
    co_return text_reply(503, "this thread takes no data");
}

request_handler ingestion_by(std::optional<ingestor>& ingest) {
    if (!ingest) return never_on_the_acceptor;
    return [&by = *ingest](http_request& request) { return by.answer(request); };
}

/// Why the gate is not ready; empty if it is. Only unresolved upstream names and a fleet being read prevent it.
std::string what_keeps(ingest_shared& shared) {
    std::string fault = shared.stores.first.name_fault();
    for (shared_replica& each : shared.stores.replicas)
        if (fault.empty() && !each.settings.best_effort) fault = each.store.name_fault();
    if (!fault.empty()) return "the upstream's name does not resolve: " + fault;
    const bool catches_up = shared.fleet != nullptr && shared.fleet->is_catching_up();
    return catches_up ? "the fleet's series are being read" : "";
}

/// Empty if no warm start goes on.
std::string progress_of(const warm_series& warm) {
    if (!warm.is_reading()) return "";
    return fmt::format("warm start: {} series, {} of {} metric names; nothing is refused until its end",
                       warm.admitted.value() + warm.younger.value(), warm.names_read.value(), warm.names.value());
}

using namespace std::chrono_literals;

constexpr auto drain_poll_interval = 5ms;
/// Senders get at most this long to finish sending or reading, and at most half of server.drainTimeout.
constexpr std::chrono::nanoseconds drain_sender_grace = 3s;
/// A sender sends its request right after connecting. Other connections only test whether the gate listens.
constexpr std::chrono::nanoseconds unasked_grace = 1s;

/// Shortens the time limits of slow senders' later steps.
void shorten_sender_timeouts(worker& of, std::chrono::nanoseconds grace) {
    net::post(of.io, [&senders = of.senders, grace] { senders.shorten_timeouts(grace); });
}

struct unfinished_work {
    const serving_parts& parts;
    monotonic_clock::time_point began = monotonic_clock::now();
    std::chrono::nanoseconds patience;  ///< for connections without a request so far

    [[nodiscard]] std::size_t requests() const {
        const std::size_t of_senders = parts.senders.connections().count_unfinished().busy;
        return of_senders +
               (parts.admin_server == nullptr ? 0 : parts.admin_server->connections().count_unfinished().busy);
    }
    /// Also waits for pending accepts: every accepted connection gets an answer, even if another process shares the
    /// socket.
    [[nodiscard]] bool is_over() const {
        const bool is_patient = monotonic_clock::now() < began + patience;
        return !parts.senders.accepts() && requests() == 0 && parts.stores.copies == 0 &&
               (!is_patient || parts.senders.connections().count_unfinished().unasked == 0);
    }
};

void log_lost_copies(const shared_stores& of) {
    if (const std::int64_t copies = of.copies)
        log::warn("copies for replicas not finished, what is in them is lost", {{"requests", copies}});
}

}  // namespace

route_table make_routes(admin_answers& admin, const request_handler& ingest, std::string_view tenant_path) {
    constexpr auto senders = route_kind::ingestion;
    constexpr auto admin_server = route_kind::admin;
    using answers = net::awaitable<reply> (admin_answers::*)(const http_request&);
    const auto by = [&admin](answers answer) -> request_handler {
        return [&admin, answer](http_request& request) { return (admin.*answer)(request); };
    };
    const auto by_api = [&admin](api_path path) -> request_handler {
        return [&admin, path](http_request& request) { return admin.api(path, request); };
    };
    std::vector<route> all{{"/api/v1/write", write_only, senders, ingest},
                           {"/api/v1/push", write_only, senders, ingest},
                           {"/api/prom/push", write_only, senders, ingest},
                           {"/api/v1/receive", write_only, senders, ingest},
                           {"/prometheus/api/v1/write", write_only, senders, ingest},
                           {"/prometheus/api/v1/push", write_only, senders, ingest},
                           {"/", read_only, admin_server, by(&admin_answers::status)},
                           {"/health", read_only, admin_server, by(&admin_answers::healthy)},
                           {"/-/healthy", read_only, admin_server, by(&admin_answers::healthy)},
                           {"/-/ready", read_only, admin_server, by(&admin_answers::ready)},
                           {"/stats", read_only, admin_server, by(&admin_answers::stats)},
                           {"/metrics", read_only, admin_server, by(&admin_answers::metrics)},
                           {"/config", read_only, admin_server, by(&admin_answers::configuration)},
                           {"/api/v1/top", read_only, admin_server, by_api(api_path::top)},
                           {"/api/v1/findings", read_only, admin_server, by_api(api_path::findings)},
                           {"/api/v1/refused", read_only, admin_server, by_api(api_path::refused)},
                           {"/api/v1/explain", read_only, admin_server, by_api(api_path::explain)},
                           {"/api/v1/suggestions", read_only, admin_server, by_api(api_path::suggestions)},
                           {"/-/reload", write_only, admin_server, by(&admin_answers::reload)}};
    if (!tenant_path.empty()) all.push_back({tenant_path, write_only, senders, ingest});
    return route_table{std::move(all)};
}

serving_shared::serving_shared(const config& settings, series_limiter& limiter, const hash_key& key,
                               gate_metrics& metrics, access_control& access, shared_cardinality& cardinality,
                               warm_series& warm, fleet_shared* fleet)
    : http{.settings = settings.server,
           .tenant_header = settings.tenant_header,
           .metrics = metrics.http,
           .access = access},
      stores(settings.upstream, metrics.upstream, worker_count(settings.server)),
      ingest{.settings = settings,
             .limiter = limiter,
             .key = key,
             .metrics = metrics.ingest,
             .stores = stores,
             .sampler = cardinality.sampler,
             .warm = warm,
             .fleet = fleet},
      admin{.life = http.life,
            .reload = metrics.reload,
            .waits_for = [this] { return what_keeps(ingest); },
            .warms_up = [this] { return progress_of(ingest.warm); },
            .labels = cardinality.tracker.labels()} {}

serving_thread::serving_thread(serving_shared& shared, role as)
    : thread(shared.http), admin(shared.admin, thread.io), offered{.thread = thread, .routes = {}} {
    if (as == role::worker) ingest.emplace(thread.io, shared.ingest);
    offered.routes = make_routes(admin, ingestion_by(ingest), shared.ingest.settings.tenant_path);
    if (!shared.ingest.settings.admin_listen) return;
    if (as == role::acceptor)
        admin_server.emplace(service{.thread = thread, .routes = offered.routes.of(route_kind::admin)});
    offered.routes = offered.routes.of(route_kind::ingestion);
}

std::size_t worker_count(const server_config& settings) noexcept {
    return settings.threads != 0 ? settings.threads : std::max(1u, std::thread::hardware_concurrency());
}

worker_threads make_workers(serving_shared& shared, const server_config& settings) {
    worker_threads workers;
    for (std::size_t i = 0; i < worker_count(settings); ++i)
        workers.push_back(std::make_unique<serving_thread>(shared, serving_thread::role::worker));
    return workers;
}

std::vector<service*> services_of(const worker_threads& workers) {
    std::vector<service*> services;
    for (const auto& each : workers) services.push_back(&each->offered);
    return services;
}

running_workers::running_workers(const worker_threads& workers, const config& settings, const thread_starter& by)
    : workers_(workers) {
    try {
        for (std::size_t i = 0; i < workers.size(); ++i) start(i, settings, by);
    } catch (...) {  // no memory, or no thread: stop the started ones before they are joined
        stop();
        throw;
    }
}

void running_workers::stop() noexcept {
    for (const auto& each : workers_) each->thread.io.stop();
    threads_.clear();
}

void running_workers::start(std::size_t number, const config& settings, const thread_starter& by) {
    serving_thread& one = *workers_[number];
    net::io_context& io = one.thread.io;
    if (!settings.upstream.discard || settings.shared.has_store())
        spawn_lasting(io, "keeping the ways to the stores failed",
                      [&ingest = *one.ingest] { return ingest.maintain(); });
    spawn_lasting(io, "measuring the queue's delay failed", [&thread = one.thread] { return probe_delay(thread); });
    threads_.push_back(by(io, fmt::format("worker-{}", number)));
}

std::chrono::steady_clock::time_point oldest_turn(const worker_threads& workers) noexcept {
    auto oldest = std::chrono::steady_clock::time_point::max();
    for (const auto& each : workers) oldest = std::min(oldest, each->thread.last_turn.load());
    return oldest;
}

net::awaitable<void> check_passwords(access_control& access) {
    const auto asked = std::make_shared<async_event>(co_await net::this_coro::executor);
    access.queue.when_added([wakes = std::weak_ptr{asked}] {  // weak: the event ends with its event loop
        if (const auto waits = wakes.lock()) waits->notify();
    });
    for (;;) {
        if (const auto pause = access.check_next())
            co_await sleep_for(*pause);
        else
            co_await asked->wait();
    }
}

std::chrono::nanoseconds sender_grace(std::chrono::nanoseconds drain_timeout) noexcept {
    return std::min(drain_sender_grace, drain_timeout / 2);
}

net::awaitable<void> drain(serving_parts of, std::string_view why, std::function<bool()> is_impatient) {
    http_shared& shared = of.acceptor.thread.shared;
    log::info("draining", {{"signal", why}});
    shared.life.drain();
    of.senders.close();  // admin.listen stays open, and its /-/ready reports the drain
    const std::chrono::nanoseconds drain_timeout = shared.settings.drain_timeout;
    const auto grace = sender_grace(drain_timeout);
    shorten_sender_timeouts(of.acceptor.thread, grace);
    for (const auto& each : of.workers) shorten_sender_timeouts(each->thread, grace);

    const unfinished_work left{.parts = of, .patience = std::min(unasked_grace, grace)};
    const auto end = monotonic_clock::now() + drain_timeout;
    while (!left.is_over() && !is_impatient() && monotonic_clock::now() < end) co_await sleep_for(drain_poll_interval);
    if (const std::size_t requests = left.requests())
        log::warn("requests not finished, their senders will try again", {{"requests", requests}});
    log_lost_copies(of.stores);
}

net::awaitable<void> finish_copies(serving_parts of) {
    const auto end = monotonic_clock::now() + of.acceptor.thread.shared.settings.drain_timeout;
    while (of.stores.copies != 0 && monotonic_clock::now() < end) co_await sleep_for(drain_poll_interval);
    log_lost_copies(of.stores);
}

}  // namespace seriesgate
