#include "process/process.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "http/route_table.hpp"
#include "ingest/ingest_logs.hpp"
#include "limit/figures.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto rest_interval = 1s;

/// Null without TLS.
std::unique_ptr<tls_files> certificates_of(const config& settings, http_metrics& metrics) {
    if (!settings.web.tls) return nullptr;
    auto loaded = load_sender_tls(*settings.web.tls);
    if (!loaded) throw std::runtime_error(loaded.error());
    note_certificate(metrics, **loaded);
    return std::move(*loaded);
}

std::optional<fleet_runtime> join_fleet(const config& settings, const hash_key& key, fleet_metrics& metrics) {
    if (!settings.shared.has_store()) return std::nullopt;
    return std::optional<fleet_runtime>{std::in_place, settings, key, metrics};
}

constexpr auto ready_poll_interval = 5ms;
/// A gate that joins a fleet reads the fleet's series; senders wait at most this long.
constexpr auto catch_up_max = 3s;
/// After this the service manager hears that the gate has started: it serves, and no other start would make a name
/// resolve.
constexpr auto start_max = 30s;
/// A usual lookup of the upstream's name takes less. Senders wait in the service manager's socket.
constexpr auto activated_wait_max = 1s;

/// @return why the step fails; empty if it does not.
template <class Step>
std::string fault_of(Step step) {
    try {
        step();
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

listening_socket take_or_open(std::optional<listening_socket>& given, const listen_address& where) {
    return given ? std::move(*given) : listen_on(where);
}

/// When the file was last written; the smallest time if it cannot be looked at.
std::filesystem::file_time_type written_at(const std::string& file) {
    std::error_code failed;
    return std::filesystem::last_write_time(file, failed);
}

}  // namespace

process::process(const config& settings, const command_line& asked, std::function<load_outcome()> read_again,
                 thread_starter starter)
    : settings_(settings),
      config_file_(asked.config_file.value_or("")),
      config_written_(written_at(config_file_)),
      starter_(std::move(starter)),
      inherited_(find_listeners(settings, asked.takes_over)),
      installed_(settings),
      key_(installed_.secret),
      fleet_(join_fleet(settings, key_, metrics_.fleet)),
      now_([this] { return fleet_ ? fleet_->shared.now() : time_point{wall_clock::now()}; }),
      limiter_(limiter_rules(settings), now_(), key_, fleet_ ? limit_scope::fleet : limit_scope::gate,
               settings.series_set),
      cardinality_(settings, key_, limiter_, now_()),
      other_descriptors_(descriptors_besides(settings)),
      connections_(connection_bounds_of(settings.server, other_descriptors_), metrics_.http),
      admin_connections_(admin_bounds, metrics_.http),
      relief_{connections_, other_descriptors_},
      access_(settings.web),
      shared_(settings, limiter_, key_, metrics_, access_, cardinality_, warm_series_,
              fleet_ ? &fleet_->shared : nullptr),
      web_(settings.web_config_file, settings.web, access_, metrics_.reload.web_successful),
      reload_(
          settings,
          [this, read = std::move(read_again)] {
              small_files_.ask();  // the reload takes them at once, and logs it
              return read();
          },
          limiter_, web_, metrics_.reload, shared_.admin.in_force),
      figures_(page_figures()),
      persistence_({.settings = settings,
                    .in = installed_,
                    .key = key_,
                    .limiter = limiter_,
                    .cardinality = cardinality_,
                    .metrics = metrics_.state,
                    .now = now_,
                    .is_half_read = [this] { return warm_series_.is_reading(); }}),
      certificates_(certificates_of(settings, metrics_.http)),
      workers_(make_workers(shared_, settings.server)),
      acceptor_(shared_, serving_thread::role::acceptor),
      handshakes_(
          certificates_ || settings.server.proxy_protocol
              ? std::optional<handshakes>{std::in_place, handshakes_loop_.context(), shared_.http, certificates_.get()}
              : std::nullopt),
      sender_server_({acceptor_.offered, connections_, services_of(workers_), handshakes_ ? &*handshakes_ : nullptr,
                      settings.server.proxy_protocol},
                     take_or_open(inherited_.at.gate, settings.listen), relief_),
      manager_({.limiter = limiter_,
                .stores = shared_.stores,
                .workers = workers_,
                .life = shared_.http.life,
                .fleet = fleet_ ? &fleet_->shared : nullptr,
                .waits_for = shared_.admin.waits_for}),
      // Before any thread starts and before readiness: a signal must find its handler.
      signals_(acceptor(), SIGTERM, SIGINT),
      reload_signals_(acceptor(), SIGHUP) {
    if (settings_.admin_listen)
        admin_server_.emplace(
            entrance{*acceptor_.admin_server, admin_connections_, {}, handshakes_ ? &*handshakes_ : nullptr},
            take_or_open(inherited_.at.admin, *settings_.admin_listen), relief_);
    if (writes_markers(settings_))
        markers_.emplace(background_loop_.context(),
                         marker_sources{.settings = settings_,
                                        .limiter = limiter_,
                                        .refused = metrics_.ingest.limit_samples_refused,
                                        .now = now_,
                                        .gate = gate_name(settings_.listen),
                                        .metrics = metrics_.markers},
                         shared_.stores);
    prepare_warm_start(asked.is_warmed);  // by what this gate knows, before it hears of the others' series
    if (fleet_) fleet_->join(limiter_, key_);
}

process::~process() {
    serving_.reset();
    for (event_loop* const each : {&handshakes_loop_, &passwords_loop_, &pages_loop_, &saving_loop_, &files_loop_,
                                   &background_loop_, &warming_loop_})
        each->stop();
    if (fleet_) fleet_->stop();
}

/// A gate that has series of this hour, or keeps room for those of the hour before, needs none.
void process::prepare_warm_start(bool is_asked_for) {
    if (!settings_.warm_start.is_configured()) return;
    const limiter_figures figures = figures_of_windows(limiter_);
    const bool knows_any = figures.hourly.series_current != 0 || figures.global.hourly.series_reserved != 0;
    if (knows_any && !is_asked_for) return log::info("no warm start: the gate knows series from before");
    warm_start_.emplace(warming_loop_.context(), warm_start::sources{.settings = settings_,
                                                                     .key = key_,
                                                                     .limiter = limiter_,
                                                                     .progress = warm_series_,
                                                                     .sampler = cardinality_.sampler,
                                                                     .now = now_,
                                                                     .fleet = fleet_ ? &fleet_->shared : nullptr});
    spawn_lasting(warming_loop_.context(), "warm start failed", [this] { return warm_start_->run(); });
}

page_sources process::page_figures() {
    return {.limiter = limiter_,
            .started = monotonic_clock::now(),
            .write_metrics =
                [this](exposition& out) {
                    write(out, metrics_);
                    write(out, shared_.stores);
                    if (fleet_) write(out, fleet_->shared);
                    if (settings_.warm_start.is_configured()) write(out, warm_series_);
                },
            .counts =
                [this] {
                    const auto delivery = delivery_.lock();  // first: what is noted there is no later than the counts
                    gate_counts counts = metrics_.counts();
                    counts.stores = counts_of(shared_.stores);
                    if (fleet_) counts.shared = counts_of(fleet_->shared);
                    if (settings_.warm_start.is_configured()) counts.warm = counts_of(warm_series_);
                    counts.delivery = delivery->facts(std::chrono::floor<std::chrono::seconds>(now_()), counts,
                                                      !settings_.upstream.discard);
                    return counts;
                },
            .catch_up = [this] { cardinality_.sampler.catch_up(); },
            .tracker = cardinality_.tracker,
            .refused = cardinality_.refused,
            .demand = cardinality_.demand,
            .key = key_,
            .ignored_labels = settings_.ignore_labels,
            .now = now_,
            .upkeep = [this] { return metrics_.upkeep(installed_.directory != nullptr); }};
}

std::vector<file_check> process::file_checks() {
    std::vector<file_check> checks{[this](const file_look& look) { shared_.stores.refresh_files(look); }};
    if (!settings_.web_config_file.empty()) checks.emplace_back([this](const file_look&) { web_.refresh(); });
    if (certificates_)
        checks.emplace_back([this](const file_look& look) {
            certificates_->refresh(look);
            note_certificate(metrics_.http, *certificates_);
            web_.note_tls_files(certificates_->are_taken());
        });
    if (fleet_) checks.emplace_back([this](const file_look& look) { fleet_->shared.store.refresh_files(look); });
    return checks;
}

void process::start_loops() {
    const auto on = [](event_loop& loop, const char* failed, std::function<net::awaitable<void>()> make) {
        spawn_lasting(loop.context(), failed, std::move(make));
    };
    const auto admits = std::make_shared<async_event>(background_loop_.context().get_executor());
    on(background_loop_, "maintaining series filters failed",
       [this, admits] { return maintain(limiter_, cardinality_.sampler, now_, admits); });
    on(background_loop_, "counting series failed",
       [this, admits] { return cardinality_.sampler.run([admits] { admits->notify(); }); });
    on(background_loop_, "watching demand failed",
       [this] { return watch_demand(cardinality_.demand, limiter_, now_); });
    on(background_loop_, "watching delivery failed", [this] {
        return watch_delivery(
            delivery_, [this] { return metrics_.counts(); }, now_);
    });
    on(files_loop_, "looking at files failed", [this] { return small_files_.run(file_checks()); });
    on(files_loop_, "reloading failed", [this] {
        return reload_.run(
            shared_.admin.reloads, [this] { manager_.reload_begins(); }, [this] { manager_.reload_ends(); });
    });
    on(pages_loop_, "making pages failed", [this] { return make_pages(shared_.admin.pages, figures_); });
    on(pages_loop_, "answering questions failed", [this] { return make_pages(shared_.admin.questions, figures_); });
    on(passwords_loop_, "checking passwords failed", [this] { return check_passwords(access_); });

    background_loop_.start(starter_, "background");
    if (warm_start_) warming_loop_.start(starter_, "warming");
    files_loop_.start(starter_, "files");
    pages_loop_.start(starter_, "pages");
    if (installed_.directory || fleet_) saving_loop_.start(starter_, "saving");
    if (!settings_.web_config_file.empty()) passwords_loop_.start(starter_, "passwords");
    if (handshakes_) handshakes_loop_.start(starter_, "handshakes");
    serving_.emplace(workers_, settings_, starter_);
}

void process::begin() {
    start_loops();
    net::io_context& control = acceptor();
    spawn(control.get_executor(), get_ready(), "getting ready failed");
    spawn_lasting(control, "telling of the rest failed", [this] { return log_rests(); });
    spawn_lasting(control, "telling the service manager failed", [this] { return manager_.run(); });
    spawn_lasting(control, "reloading failed", [this] { return reload_on_signal(); });
    spawn_lasting(control, "draining failed", [this] { return drain_on_signal(); });
}

/// Serves at once, unless connections can wait in an inherited socket. They wait until the gate is ready: at most a
/// second for a service manager, in a takeover as long as the running gate allows.
net::awaitable<void> process::get_ready() {
    takeover_client* before = inherited_.before ? &*inherited_.before : nullptr;  // null once the running gate has died
    bool serves = before == nullptr && !inherited_.is_activated;
    if (serves) open_to_senders();
    const auto began = monotonic_clock::now();
    const auto is_ready = [&] {
        const bool catches_up =
            fleet_ && fleet_->shared.is_catching_up() && monotonic_clock::now() < began + catch_up_max;
        return !catches_up && std::ranges::all_of(workers_, [](const auto& each) { return each->ingest->ready(); });
    };
    const auto look = [&] {
        if (!before->look()) return;
        before = nullptr;
        is_in_other_place_ = false;
    };
    std::string fault;
    const lifecycle& life = shared_.http.life;
    if (before != nullptr) co_await sleep_for(ready_poll_interval);  // hears a signal that came while this one started
    while (fault.empty() && !life.draining() && !is_ready()) {
        const bool is_late = monotonic_clock::now() >= began + activated_wait_max;
        if (before == nullptr && !serves && (is_late || inherited_.before)) {
            serves = true;
            open_to_senders();
        }
        if (serves && monotonic_clock::now() >= began + start_max) manager_.started();
        co_await sleep_for(ready_poll_interval);
        if (before != nullptr) fault = fault_of(look);
    }
    if (life.draining()) co_return;  // asked to stop before it serves: in a takeover the running gate goes on
    if (before != nullptr && fault.empty()) fault = fault_of([&] { before->serve(); });
    if (!fault.empty()) {
        takeover_fault_ = std::move(fault);
        acceptor().stop();
        co_return;
    }
    is_in_other_place_ = false;
    shared_.http.life.become_ready();
    if (!serves) open_to_senders();
    // A reload may have been asked of the running gate while this one waited.
    if (inherited_.before && written_at(config_file_) != config_written_) reload();
    manager_.started();
}

void process::run() {
    begin();
    run_handlers(acceptor());  // until a drain or a takeover by another process
    if (!takeover_fault_.empty()) throw std::runtime_error(takeover_fault_);
    log::info("stopped");
}

void process::open_to_senders() {
    const std::string at = address();
    log_start(settings_, {.senders = at, .admin_server = admin_server_ ? admin_server_->address() : at},
              workers_.size(), config_file_);
    accept();
    sender_server_.take_file();  // of the old process, if there was one
    if (admin_server_) admin_server_->take_file();
    spawn_lasting(saving_loop_.context(), "saving failed", [this] { return persistence_.run(saving_loop_.ending()); });
    offer_place();
}

serving_parts process::parts() {
    return {.senders = sender_server_,
            .admin_server = admin_server_ ? &*admin_server_ : nullptr,
            .acceptor = acceptor_,
            .workers = workers_,
            .stores = shared_.stores};
}

void process::accept() {
    for (server* const each : {&sender_server_, admin_server_ ? &*admin_server_ : nullptr}) {
        if (each == nullptr) continue;
        each->resume();
        spawn_lasting(acceptor(), "accepting connections failed", [each] { return each->accept(); });
    }
}

void process::offer_place() {
    auto at = open_takeover_socket(settings_, inherited_.before.has_value());
    if (!at) return;
    takeover_server_.emplace(takeover_server::parts{.serving = parts(),
                                                    .kept = persistence_,
                                                    .saving = installed_.directory || fleet_ ? saving_loop_.context()
                                                                                             : files_loop_.context(),
                                                    .leave_fleet =
                                                        [this] {
                                                            if (fleet_) fleet_->leave(false);
                                                        },
                                                    .accept_again = [this] { accept(); },
                                                    .is_over = [this] { spawn_end(); }},
                             std::move(*at));
    spawn_lasting(acceptor(), "handing over failed", [this] { return takeover_server_->run(); });
}

/// Logs what throttling has held back.
net::awaitable<void> process::log_rests() {
    for (;;) {
        log_rest(shared_.http.rejections);
        shared_.http.closings.log_new(shared_.http.metrics);
        log_rest(shared_.ingest);
        co_await sleep_for(rest_interval);
    }
}

net::awaitable<void> process::reload_on_signal() {
    for (;;) {
        auto [error, signal] = co_await reload_signals_.async_wait(no_throw);
        if (error) co_return;
        reload();
    }
}

void process::reload() {
    shared_.admin.reload.requests.add();
    shared_.admin.reloads.ask({});
}

net::awaitable<void> process::drain_on_signal() {
    auto [error, signal] = co_await signals_.async_wait(no_throw);
    if (error) co_return;
    co_await drain_and_end(signal == SIGTERM ? "SIGTERM" : "SIGINT");
}

void process::drain() {
    spawn(acceptor().get_executor(), drain_and_end("SIGTERM"), "draining failed");
}

net::awaitable<void> process::drain_and_end(std::string_view why) {
    const auto is_impatient = std::make_shared<bool>(false);  // true after a second signal
    signals_.async_wait([is_impatient](error_code failed, int) { *is_impatient = !failed; });
    std::function<bool()> asked = [is_impatient] { return *is_impatient; };
    manager_.stopping();
    const serving_parts all = parts();
    co_await seriesgate::drain(all, why, std::move(asked));
    spawn_end();
}

void process::spawn_end() {
    spawn_lasting(acceptor(), "ending failed", [this] { return end(); });
}

/// After the last request: tells fleet and stores, and saves the state.
net::awaitable<void> process::end() {
    const bool has_long_work = installed_.directory || fleet_;
    saving_loop_.begin_to_end();
    if (fleet_) {
        // In a takeover both processes have one name in the fleet.
        const bool other_stays = is_in_other_place_ || (takeover_server_ && takeover_server_->has_given());
        const auto leave = [this, other_stays] { other_stays ? fleet_->stop() : fleet_->leave(true); };
        co_await saving_loop_.perform(leave, acceptor());
    }
    serving_->stop();
    if (markers_) co_await markers_->leave();
    if (has_long_work) {
        const auto save = [this] { persistence_.finish(); };
        co_await saving_loop_.perform(save, acceptor());
    }
    is_over_ = true;
    acceptor().stop();
}

}  // namespace seriesgate
