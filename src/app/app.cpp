#include "app/app.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "admin/pages.hpp"
#include "app/reload.hpp"
#include "app/state.hpp"
#include "config/version.hpp"
#include "http/connections.hpp"
#include "http/descriptors.hpp"
#include "http/server.hpp"
#include "limit/window_sets.hpp"
#include "net/background.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Between two looks at whether a filter wants to grow or a window's end is near. Far shorter than it takes a request
/// flood to fill the filter's spare room.
constexpr auto maintenance_interval = 20ms;
constexpr auto drain_poll_interval = 5ms;
/// What senders get while we drain to finish sending, or reading, what they are at; at most half of the drain.
constexpr std::chrono::nanoseconds drain_sender_grace = 3s;

std::size_t worker_count(const server_config& settings) {
    return settings.threads != 0 ? settings.threads : std::max(1u, std::thread::hardware_concurrency());
}

/// As configured, but no more than there are descriptors for.
connection_bounds connection_bounds_of(const server_config& settings) {
    const std::uint64_t descriptors = raise_descriptor_limit();
    const std::size_t fit = connections_that_fit(descriptors, worker_count(settings));
    if (settings.connections_max > fit)
        spdlog::warn("server.maxConnections {} is lowered to {}: the process may have no more than {} descriptors",
                     settings.connections_max, fit, descriptors);
    return {.total = std::min<std::size_t>(settings.connections_max, fit),
            .per_peer = settings.connections_per_peer_max};
}

std::vector<std::unique_ptr<worker>> make_workers(shared_state& shared) {
    const std::size_t count = worker_count(shared.settings.server);
    std::vector<std::unique_ptr<worker>> workers;
    for (std::size_t i = 0; i < count; ++i) workers.push_back(std::make_unique<worker>(shared));
    return workers;
}

/// The limiter's own thread: it allocates, so it is nobody's request.
void maintain(const std::stop_token& stop, series_limiter& limiter) {
    std::mutex idle;
    std::condition_variable_any wake;
    std::unique_lock lock{idle};
    bool in_doubt = false;
    while (!stop.stop_requested()) {
        try {
            limiter.maintain(wall_clock_now());
            if (limiter.clock_in_doubt() && !in_doubt)
                spdlog::warn("the clock has leapt by over an hour: believed if it stays so for {} minutes",
                             clock_doubt.count());
            in_doubt = limiter.clock_in_doubt();
        } catch (const std::exception& error) {
            // Mostly no memory for a larger filter: they go on in what they have, at a rising false-positive rate,
            // which /stats shows. Whatever it is, it is no reason to end.
            spdlog::error("the series filters could not be maintained: {}", error.what());
            wake.wait_for(lock, stop, 1s, [] { return false; });
        }
        wake.wait_for(lock, stop, maintenance_interval, [] { return false; });
    }
}

net::awaitable<void> announce_ready(const std::vector<std::unique_ptr<worker>>& workers, shared_state& shared) {
    net::steady_timer timer{co_await net::this_coro::executor};
    const auto started = [](const auto& each) { return each->upstream.started(); };
    while (!shared.settings.upstream.discard && !std::ranges::all_of(workers, started)) {
        timer.expires_after(drain_poll_interval);
        co_await timer.async_wait(no_throw);
    }
    shared.ready = true;
}

/// Slow senders are not waited for as long as usual from here on.
void hurry_senders(worker& of, std::chrono::nanoseconds grace) {
    net::post(of.io, [&senders = of.senders, grace] { senders.hurry(grace); });
}

/// Waits for the first signal, stops listening, and lets what is being worked on end, for a bounded time.
/// A second signal ends the wait.
net::awaitable<void> drain_on_signal(worker& front_desk, net::signal_set& signals, server& front,
                                     const std::vector<std::unique_ptr<worker>>& workers) {
    shared_state& shared = front_desk.shared;
    auto [error, signal] = co_await signals.async_wait(no_throw);
    if (error) co_return;
    spdlog::info("{}: draining", signal == SIGTERM ? "SIGTERM" : "SIGINT");
    shared.draining = true;
    front.close();
    const std::chrono::nanoseconds drain_timeout = shared.settings.server.drain_timeout;
    const auto grace = std::min(drain_sender_grace, drain_timeout / 2);
    hurry_senders(front_desk, grace);
    for (const auto& each : workers) hurry_senders(*each, grace);

    const auto impatient = std::make_shared<bool>(false);
    signals.async_wait([impatient](error_code failed, int) { *impatient = !failed; });
    const auto limit = std::chrono::steady_clock::now() + drain_timeout;
    const gauge& working = shared.metrics.inflight_requests;
    net::steady_timer timer{front_desk.io};
    while (working.value() != 0 && !*impatient && std::chrono::steady_clock::now() < limit) {
        timer.expires_after(drain_poll_interval);
        co_await timer.async_wait(no_throw);
    }
    if (working.value() != 0)
        spdlog::warn("{} requests were not finished; their senders will try again", working.value());
    front_desk.io.stop();
}

net::awaitable<void> reload_on_signal(net::signal_set& signals, shared_state& shared) {
    for (;;) {
        auto [error, signal] = co_await signals.async_wait(no_throw);
        if (error) co_return;
        shared.metrics.reload_requests.add();
        shared.reloads.ask({});
    }
}

void log_start(const config& settings, const server& front, std::size_t workers) {
    const auto limit = [](std::uint64_t max) { return max == 0 ? std::string{"none"} : std::to_string(max); };
    spdlog::info("seriesgate {} listening on {}, upstream {}, maxHourlySeries {}, maxDailySeries {}, {} threads",
                 version(), front.address(), settings.upstream.url, limit(settings.rules.global.hourly),
                 limit(settings.rules.global.daily), workers);
}

}  // namespace

void run(const config& settings, std::function<load_outcome()> read_again) {
    const installation installed{settings};
    const hash_key key{installed.secret};
    series_limiter limiter{settings.rules, wall_clock_now(), key};
    gate_metrics metrics;
    connection_registry connections{connection_bounds_of(settings.server), metrics};
    reloader reload{settings, std::move(read_again), limiter, metrics};
    shared_state shared{.settings = settings,
                        .limiter = limiter,
                        .metrics = metrics,
                        .key = key,
                        .started = std::chrono::steady_clock::now()};
    std::optional<state_keeper> state;
    if (installed.directory) state.emplace(settings, installed, key, limiter, metrics);
    const auto workers = make_workers(shared);
    worker front_desk{shared};  // its thread is this one
    net::io_context& control = front_desk.io;
    server front{front_desk, settings.listen, workers, connections};
    // Before there are threads and before anyone is told that we are up: a signal must find its handler.
    net::signal_set signals{control, SIGTERM, SIGINT};
    net::signal_set reload_signals{control, SIGHUP};

    // From here on nothing fails. Threads are joined in reverse order, before what they use goes.
    std::jthread maintenance{[&limiter](const std::stop_token& stop) { maintain(stop, limiter); }};
    std::jthread saving;
    if (state) saving = std::jthread{[&](const std::stop_token& stop) { state->save_now_and_then(stop); }};
    std::jthread paging{[&shared](const std::stop_token& stop) { make_pages(stop, shared); }};
    std::jthread reloading{[&](const std::stop_token& stop) { reload.run(stop, shared.reloads); }};
    std::vector<std::jthread> threads;
    for (const auto& each : workers) {
        if (!settings.upstream.discard)
            spawn_lasting(
                each->io.get_executor(), [&upstream = each->upstream] { return upstream.maintain(); },
                "keeping the upstream's addresses failed");
        threads.emplace_back([&io = each->io] { run_handlers(io); });
    }
    const auto start = [&](std::function<net::awaitable<void>()> make, const char* failed) {
        spawn_lasting(control.get_executor(), std::move(make), failed);
    };
    start([&] { return announce_ready(workers, shared); }, "getting ready failed");
    start([&] { return front.accept(); }, "accepting connections failed");
    start([&] { return reload_on_signal(reload_signals, shared); }, "reloading failed");
    start([&] { return drain_on_signal(front_desk, signals, front, workers); }, "draining failed");
    log_start(settings, front, workers.size());
    run_handlers(control);

    for (const auto& each : workers) each->io.stop();
    threads.clear();
    if (state) {
        saving = {};  // stopped and joined: one save at a time
        state->save();
    }
    spdlog::info("stopped");
}

}  // namespace seriesgate
