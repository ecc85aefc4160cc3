#include "app/app.hpp"

#include <boost/asio/signal_set.hpp>
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
#include "app/bounds.hpp"
#include "app/culprits.hpp"
#include "app/demand_watch.hpp"
#include "app/fleet_seat.hpp"
#include "app/gate_metrics.hpp"
#include "app/gate_name.hpp"
#include "app/handing_over.hpp"
#include "app/keeping.hpp"
#include "app/maintenance.hpp"
#include "app/marking.hpp"
#include "app/opening.hpp"
#include "app/place.hpp"
#include "app/reload.hpp"
#include "app/rereading.hpp"
#include "app/running_workers.hpp"
#include "app/sender_tls.hpp"
#include "app/serving.hpp"
#include "app/signals.hpp"
#include "app/start_line.hpp"
#include "app/supervision.hpp"
#include "app/web_access.hpp"
#include "fleet/fleet_exposition.hpp"
#include "http/connections.hpp"
#include "http/descriptor_relief.hpp"
#include "http/handshakes.hpp"
#include "http/idle_connections.hpp"
#include "http/rejection_log.hpp"
#include "http/server.hpp"
#include "ingest/tell_rest.hpp"
#include "limit/limiter.hpp"
#include "log/log.hpp"
#include "net/async_timer.hpp"
#include "net/background.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto rest_interval = 1s;

/// Nothing where senders meet no TLS.
std::unique_ptr<tls_files> certificates_of(const config& settings, http_metrics& metrics) {
    if (!settings.web.tls) return nullptr;
    auto loaded = load_sender_tls(*settings.web.tls);
    if (!loaded) throw std::runtime_error(loaded.error());
    note_certificate(metrics, **loaded);
    return std::move(*loaded);
}

/// Nothing that has happened is kept from the log for long, for want of a next time.
net::awaitable<void> tell_rests(serving_shared& of) {
    async_timer timer{co_await net::this_coro::executor};
    for (;;) {
        tell_rest(of.http.rejections);
        of.http.closings.tell(of.http.metrics);
        tell_rest(of.ingest);
        timer.expires_after(rest_interval);
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

}  // namespace

void run(const config& settings, const start& how, std::function<load_outcome()> read_again) {
    starting_place place = find_place(settings, how.takes_over);  // first: a gate that runs has the lock of state.dir
    const installation installed{settings};
    const hash_key key{installed.secret};
    gate_metrics metrics;
    std::optional<fleet_seat> fleet;
    if (settings.shared.has_store()) fleet.emplace(settings, key, metrics.fleet);
    const auto now = [&fleet] { return fleet ? fleet->shared.now() : time_point{wall_clock::now()}; };
    series_limiter limiter{settings.rules, now(), key, fleet ? limit_scope::fleet : limit_scope::gate};
    culprits noted{settings, key, limiter, now()};
    const descriptor_use other_descriptors = descriptors_besides(settings);
    connection_registry connections{connection_bounds_of(settings.server, other_descriptors), metrics.http};
    connection_registry admin_connections{admin_bounds, metrics.http};
    descriptor_relief relief{connections, other_descriptors};
    access_control access{settings.web};
    serving_shared shared{settings, limiter, key, metrics, access, noted, fleet ? &fleet->shared : nullptr};
    web_access web{settings.web_config_file, settings.web, access, metrics.reload.web_successful};
    rereading small_files;
    const auto read_all_again = [&] {
        small_files.ask();  // its own thread takes them over, and says so in the log
        return read_again();
    };
    reloader reload{settings, read_all_again, limiter, web, metrics.reload, shared.admin.in_force};
    const page_sources figures{.limiter = limiter,
                               .started = monotonic_clock::now(),
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
                                   },
                               .catch_up = [&] { noted.noted.catch_up(); },
                               .who = noted.who,
                               .refused = noted.refused,
                               .demand = noted.demand,
                               .key = key,
                               .ignored_labels = settings.ignore_labels,
                               .now = now,
                               .upkeep = [&] { return metrics.upkeep(installed.directory && !fleet); }};
    keeping kept{{.settings = settings,
                  .in = installed,
                  .key = key,
                  .limiter = limiter,
                  .noted = noted,
                  .metrics = metrics.state,
                  .is_in_fleet = fleet.has_value(),
                  .now = now}};
    idle_connections idle;
    const worker_threads workers = make_workers(shared, settings.server);
    serving_thread front_desk{shared, serving_thread::role::front_desk};  // its thread is this one
    net::io_context& control = front_desk.self.io;
    const std::unique_ptr<tls_files> certificates = certificates_of(settings, metrics.http);
    std::optional<handshakes> tls;
    if (certificates) tls.emplace(shared.http, [&] { return certificates->current(); });
    handshakes* const shaking = tls ? &*tls : nullptr;
    if (!place.at.gate) place.at.gate = listen_on(settings.listen);
    server senders{{front_desk.offered, connections, services_of(workers), shaking}, std::move(*place.at.gate), relief};
    std::optional<server> people;
    if (settings.admin.listen) {
        if (!place.at.admin) place.at.admin = listen_on(*settings.admin.listen);
        people.emplace(entrance{*front_desk.people, admin_connections, {}, shaking}, std::move(*place.at.admin),
                       relief);
    }
    let_go_to(idle, front_desk, workers);
    supervision manager{{.limiter = limiter, .stores = shared.stores, .workers = workers, .life = shared.http.life}};
    // Before there are threads and before anyone is told that we are up: a signal must find its handler.
    net::signal_set signals{control, SIGTERM, SIGINT};
    net::signal_set reload_signals{control, SIGHUP};

    // Threads are stopped and joined in reverse order, before what they use goes.
    std::jthread maintenance{[&](const std::stop_token& end) { maintain(end, limiter, noted.who, now); }};
    std::jthread noting{[&](const std::stop_token& end) { noted.noted.run(end); }};
    std::jthread watching{[&](const std::stop_token& end) { watch_demand(end, noted.demand, limiter, now); }};
    std::optional<fleet_stay> staying_in_fleet;
    if (fleet) staying_in_fleet.emplace(*fleet, limiter);
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
    std::jthread reloading{[&](const std::stop_token& end) {
        reload.run(
            end, shared.admin.reloads, [&] { manager.reload_begins(); }, [&] { manager.reload_ends(); });
    }};
    std::optional<marking> marks;
    if (writes_markers(settings))
        marks.emplace(marker_sources{.settings = settings,
                                     .limiter = limiter,
                                     .refused = metrics.ingest.limit_samples_refused,
                                     .now = now,
                                     .gate = gate_name(settings.listen),
                                     .metrics = metrics.markers},
                      shared.stores);
    running_workers serving{workers, settings};

    const auto go_on = [&](std::function<net::awaitable<void>()> make, const char* failed) {
        spawn_lasting(control.get_executor(), std::move(make), failed);
    };
    const auto accept = [&] {
        go_on([&] { return senders.accept(); }, "accepting connections failed");
        if (people) go_on([&] { return people->accept(); }, "accepting connections failed");
    };
    std::optional<handing_over> next;  // the gate that takes this one's place
    const auto offer_place = [&] {
        auto at = open_takeover_socket(settings, place.before.has_value());
        if (!at) return;
        next.emplace(handing_over::parts{.senders = senders,
                                         .people = people ? &*people : nullptr,
                                         .front_desk = front_desk,
                                         .workers = workers,
                                         .stores = shared.stores,
                                         .idle = idle,
                                         .kept = kept,
                                         .leave_fleet =
                                             [&] {
                                                 if (fleet) fleet->leave();
                                             },
                                         .accept_again = accept},
                     std::move(*at));
        go_on([&] { return next->run(); }, "handing over failed");
    };
    std::string not_taken;  // why a gate that runs has not left its place
    const auto serve = [&] {
        const std::string address = senders.address();
        log_start(settings, {.senders = address, .people = people ? people->address() : address}, workers.size(),
                  how.config_file);
        accept();
        adopt(place, senders, people ? &*people : nullptr);
        kept.start();
        offer_place();
    };
    const auto give_up = [&](std::string why) {
        not_taken = std::move(why);
        control.stop();
    };
    spawn(control.get_executor(),
          open({.place = place,
                .workers = workers,
                .fleet = fleet ? &fleet->shared : nullptr,
                .life = shared.http.life,
                .serves = serve,
                .ready = [&] { manager.started(); },
                .failed = give_up}),
          "getting ready failed");
    go_on([&] { return tell_rests(shared); }, "telling of the rest failed");
    go_on([&] { return manager.run(); }, "telling the service manager failed");
    go_on([&] { return reload_on_signal(reload_signals, shared.admin); }, "reloading failed");
    go_on(
        [&] {
            return drain_on_signal(signals, senders, front_desk, workers, shared.stores, [&] { manager.stopping(); });
        },
        "draining failed");
    run_handlers(control);  // until it has drained, or another process has its place
    if (!not_taken.empty()) throw std::runtime_error(not_taken);

    if (fleet) fleet->leave();
    serving.stop();
    if (marks) marks->leave();
    kept.finish();
    log::info("stopped");
}

}  // namespace seriesgate
