#include "app/app.hpp"

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "admin/pages.hpp"
#include "app/fleet_seat.hpp"
#include "app/gate_metrics.hpp"
#include "app/maintenance.hpp"
#include "app/reload.hpp"
#include "app/rereading.hpp"
#include "app/sender_tls.hpp"
#include "app/serving.hpp"
#include "app/signals.hpp"
#include "app/start_line.hpp"
#include "app/state.hpp"
#include "app/web_access.hpp"
#include "fleet/fleet_exposition.hpp"
#include "http/connections.hpp"
#include "http/delay_probe.hpp"
#include "http/descriptor_relief.hpp"
#include "http/descriptors.hpp"
#include "http/handshakes.hpp"
#include "http/rejection_log.hpp"
#include "http/server.hpp"
#include "ingest/tell_rest.hpp"
#include "limit/limiter.hpp"
#include "limit/window_sets.hpp"
#include "log/log.hpp"
#include "net/background.hpp"
#include "net/wall_clock.hpp"
#include "upstream/pool.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto ready_poll_interval = 5ms;
/// A gate that joins a fleet lets senders wait for it so long, while it reads what the fleet has admitted.
constexpr auto catch_up_max = 3s;
constexpr auto rest_interval = 1s;
/// Requests of each worker whose incumbents the shared store is being told of, in a fleet.
constexpr int tellings_at_once = 2;

/// Those that connect to admin.listen are few: people, probes and scrapers.
constexpr connection_bounds admin_bounds{.total = 64, .handshakes = 64};

descriptor_use descriptors_besides(const config& settings) {
    const std::size_t workers = worker_count(settings.server);
    const std::size_t doors = count_doors(settings.upstream);
    return {.workers = workers,
            .idle_upstream_max = connection_pool::idle_max * doors,
            .upstream_max = share_of_connections(settings.upstream, workers) * workers * doors,
            .has_replicas = !settings.upstream.replicas.empty(),
            .admin_connections = settings.admin.listen ? admin_bounds.total : 0};
}

/// As configured, but no more than there are descriptors for.
connection_bounds connection_bounds_of(const server_config& settings, const descriptor_use& others) {
    const std::uint64_t descriptors = raise_descriptor_limit();
    const std::size_t fit = connections_that_fit(descriptors, others);
    if (settings.connections_max > fit)
        log::warn("server.maxConnections is lowered, the process may have too few descriptors",
                  {{"configured", settings.connections_max}, {"max_connections", fit}, {"descriptors", descriptors}});
    return {.total = std::min<std::size_t>(settings.connections_max, fit),
            .per_peer = settings.connections_per_peer_max,
            .handshakes = settings.handshakes_max};
}

/// Nothing where senders meet no TLS.
std::unique_ptr<tls_files> certificates_of(const config& settings, http_metrics& metrics) {
    if (!settings.web.tls) return nullptr;
    auto loaded = load_sender_tls(*settings.web.tls);
    if (!loaded) throw std::runtime_error(loaded.error());
    note_certificate(metrics, **loaded);
    return std::move(*loaded);
}

net::awaitable<void> announce_ready(const worker_threads& workers, const fleet_shared* fleet, process_life& life) {
    net::steady_timer timer{co_await net::this_coro::executor};
    const auto catch_up_end = std::chrono::steady_clock::now() + catch_up_max;
    const auto catches_up = [&] {
        return fleet != nullptr && fleet->is_catching_up() && std::chrono::steady_clock::now() < catch_up_end;
    };
    const auto ready = [](const auto& each) { return each->ingest->ready(); };
    while (!std::ranges::all_of(workers, ready) || catches_up()) {
        timer.expires_after(ready_poll_interval);
        co_await timer.async_wait(no_throw);
    }
    life.become_ready();
}

/// Nothing that has happened is kept from the log for long, for want of a next time.
net::awaitable<void> tell_rests(serving_shared& of) {
    net::steady_timer timer{co_await net::this_coro::executor};
    for (;;) {
        tell_rest(of.http.rejections);
        of.http.closings.tell(of.http.metrics);
        tell_rest(of.ingest);
        timer.expires_after(rest_interval);
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

/// The workers at work, on a thread each.
class running_workers {
    const worker_threads& workers_;
    std::vector<std::jthread> threads_;

  public:
    running_workers(const worker_threads& workers, const config& settings) : workers_(workers) {
        try {
            for (const auto& each : workers) start(*each, settings);
        } catch (...) {  // no memory, or no thread: those that run have to end before they are joined
            stop();
            throw;
        }
    }
    running_workers(const running_workers&) = delete;
    running_workers& operator=(const running_workers&) = delete;
    ~running_workers() { stop(); }

    void stop() noexcept {
        for (const auto& each : workers_) each->self.io.stop();
        threads_.clear();
    }

  private:
    void start(serving_thread& one, const config& settings) {
        net::io_context& io = one.self.io;
        if (!settings.upstream.discard || settings.shared.has_store())
            spawn_lasting(
                io.get_executor(), [&ingest = *one.ingest] { return ingest.maintain(); },
                "keeping the ways to the stores failed");
        for (int i = 0; one.ingest->tells() && i < tellings_at_once; ++i)
            spawn_lasting(
                io.get_executor(), [&ingest = *one.ingest] { return ingest.tell_untold(); },
                "telling the shared store failed");
        spawn_lasting(
            io.get_executor(), [&self = one.self] { return probe_delay(self); }, "measuring the queue's delay failed");
        threads_.emplace_back([&io] { run_handlers(io); });
    }
};

}  // namespace

void run(const config& settings, std::string_view config_file, std::function<load_outcome()> read_again) {
    const installation installed{settings};
    const hash_key key{installed.secret};
    gate_metrics metrics;
    std::optional<fleet_seat> fleet;
    if (settings.shared.has_store()) fleet.emplace(settings, key, metrics.fleet);
    const auto now = [&fleet] { return fleet ? fleet->shared.now() : time_point{wall_clock_now()}; };
    series_limiter limiter{settings.rules, now(), key, fleet ? limit_scope::fleet : limit_scope::gate};
    const descriptor_use other_descriptors = descriptors_besides(settings);
    connection_registry connections{connection_bounds_of(settings.server, other_descriptors), metrics.http};
    connection_registry admin_connections{admin_bounds, metrics.http};
    descriptor_relief relief{connections, other_descriptors};
    access_control access{settings.web};
    serving_shared shared{settings, limiter, key, metrics, access, fleet ? &fleet->shared : nullptr};
    web_access web{settings.web_config_file, settings.web, access, metrics.reload.web_successful};
    rereading small_files;
    const auto read_all_again = [&] {
        small_files.ask();  // its own thread takes them over, and says so in the log
        return read_again();
    };
    reloader reload{settings, read_all_again, limiter, web, metrics.reload, shared.admin.in_force};
    const page_sources figures{.limiter = limiter,
                               .started = std::chrono::steady_clock::now(),
                               .write_metrics =
                                   [&](exposition& out) {
                                       write(out, metrics);
                                       write(out, shared.stores);
                                       if (fleet) write(out, fleet->shared);
                                   },
                               .counts =
                                   [&] {
                                       gate_counts counts = metrics.counts();
                                       counts.stores = counts_of(shared.stores);
                                       if (fleet) counts.shared = counts_of(fleet->shared);
                                       return counts;
                                   }};
    std::optional<state_keeper> state;
    if (installed.directory && !fleet) state.emplace(settings, installed, key, limiter, metrics.state);
    const worker_threads workers = make_workers(shared, settings.server);
    serving_thread front_desk{shared, serving_thread::role::front_desk};  // its thread is this one
    net::io_context& control = front_desk.self.io;
    const std::unique_ptr<tls_files> certificates = certificates_of(settings, metrics.http);
    std::optional<handshakes> tls;
    if (certificates) tls.emplace(shared.http, [&] { return certificates->current(); });
    handshakes* const shaking = tls ? &*tls : nullptr;
    server senders{{front_desk.offered, connections, services_of(workers), shaking}, settings.listen, relief};
    std::optional<server> people;
    if (settings.admin.listen)
        people.emplace(entrance{*front_desk.people, admin_connections, {}, shaking}, *settings.admin.listen, relief);
    // Before there are threads and before anyone is told that we are up: a signal must find its handler.
    net::signal_set signals{control, SIGTERM, SIGINT};
    net::signal_set reload_signals{control, SIGHUP};

    // Threads are stopped and joined in reverse order, before what they use goes.
    std::jthread maintenance{[&](const std::stop_token& end) { maintain(end, limiter, now); }};
    std::optional<fleet_stay> staying_in_fleet;
    if (fleet) staying_in_fleet.emplace(*fleet, limiter);
    std::jthread saving;
    if (state) saving = std::jthread{[&](const std::stop_token& end) { state->save_now_and_then(end); }};
    std::jthread paging{[&](const std::stop_token& end) { make_pages(end, shared.admin.pages, figures); }};
    std::vector<file_check> files{[&shared] { shared.stores.refresh_files(); }};
    std::jthread checking;
    if (!settings.web_config_file.empty()) {
        files.emplace_back([&web] { web.refresh(); });
        checking = std::jthread{[&](const std::stop_token& end) { access.check_passwords(end); }};
    }
    if (certificates)
        files.emplace_back([&] {
            certificates->refresh();
            note_certificate(metrics.http, *certificates);
        });
    std::jthread shaking_hands;
    if (tls) shaking_hands = std::jthread{[&](const std::stop_token& end) { tls->run(end); }};
    std::jthread looking{[&](const std::stop_token& end) { small_files.run(end, files); }};
    std::jthread reloading{[&](const std::stop_token& end) { reload.run(end, shared.admin.reloads); }};
    running_workers serving{workers, settings};

    const auto go_on = [&](std::function<net::awaitable<void>()> make, const char* failed) {
        spawn_lasting(control.get_executor(), std::move(make), failed);
    };
    go_on([&] { return announce_ready(workers, fleet ? &fleet->shared : nullptr, shared.http.life); },
          "getting ready failed");
    go_on([&] { return tell_rests(shared); }, "telling of the rest failed");
    go_on([&] { return senders.accept(); }, "accepting connections failed");
    if (people) go_on([&] { return people->accept(); }, "accepting connections failed");
    go_on([&] { return reload_on_signal(reload_signals, shared.admin); }, "reloading failed");
    go_on([&] { return drain_on_signal(signals, senders, front_desk, workers, shared.stores); }, "draining failed");
    const std::string address = senders.address();
    log_start(settings, {.senders = address, .people = people ? people->address() : address}, workers.size(),
              config_file);
    run_handlers(control);  // until it has drained

    if (fleet) fleet->leave();
    serving.stop();
    if (state) {
        saving = {};  // stopped and joined: one save at a time
        state->save();
    }
    log::info("stopped");
}

}  // namespace seriesgate
