#include "ingest/marker_writer.hpp"

#include <memory>
#include <utility>

#include "base/clock.hpp"
#include "config/version.hpp"
#include "http/route_table.hpp"
#include "ingest/sender_texts.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Markers of a minute are at most this late.
constexpr auto look_interval = 500ms;

/// A round ends after this time: the next minute's markers replace what is left.
constexpr auto round_limit = 1min;

/// The headers of Prometheus for remote write 1.
http::fields headers_of(const marker_request& request, const config& settings) {
    http::fields headers;
    headers.set(http::field::content_type, "application/x-protobuf");
    headers.set(http::field::content_encoding, "snappy");
    headers.set(http::field::user_agent, "seriesgate/" + std::string{version()});
    headers.set("X-Prometheus-Remote-Write-Version", "0.1.0");
    if (!request.tenant.empty()) headers.set(settings.tenant_header, request.tenant);
    return headers;
}

}  // namespace

marker_writer::marker_writer(net::io_context& io, marker_sources& from, shared_store& store)
    : from_(from), client_(io, store), pause_(io) {}

net::awaitable<void> marker_writer::run() {
    while (!ending_) {
        client_.maintain();
        const time_point now = wall_clock::now();
        if (turn_.take(now)) {
            std::vector<marker_request> requests = written_.next(find_markers(), now);
            co_await write(std::move(requests), now);
        }
        if (ending_) break;
        pause_.expires_after(look_interval);
        co_await pause_.async_wait(no_throw);
    }
    const time_point now = wall_clock::now();
    std::vector<marker_request> ends = written_.next({}, now);
    co_await write(std::move(ends), now);
    ended_ = true;
}

void marker_writer::end() {
    ending_ = true;
    pause_.cancel();
}

/// By the limiter's clock, as the windows of its figures are. In a fleet the gate's own may be an hour off.
marker_values marker_writer::find_markers() const {
    const time_point now = from_.now();
    const auto steady_now = limit_counters::clock::now();
    std::vector<refused_tenant> refused;
    for (limit_counters::occasion& each : from_.refused.last_occasions())
        refused.push_back({.limit = std::move(each.limit),
                           .tenant = std::move(each.tenant),
                           .last = now - std::chrono::duration_cast<std::chrono::nanoseconds>(steady_now - each.last)});
    if (refused.empty()) return {};
    // Begins a new hour if no request has done so yet.
    static_cast<void>(from_.limiter.sets_at(now));
    return find_withheld(figures_of(from_.limiter), refused);
}

net::awaitable<void> marker_writer::write(std::vector<marker_request> requests, time_point now) {
    const auto limit = monotonic_clock::now() + round_limit;
    const bool are_the_last = ending_;
    bool is_over = false;
    for (const marker_request& each : requests) {
        if (ending_ && !are_the_last) co_return;
        if (is_over) {
            from_.metrics.failed.add(each.samples.size());
            continue;
        }
        const outcome made = co_await send(each);
        written_.sent(each, made == outcome::taken, now);
        (made == outcome::taken ? from_.metrics.written : from_.metrics.failed).add(each.samples.size());
        is_over = made == outcome::away || monotonic_clock::now() > limit;
        if (is_over) written_.broke_off(each);
    }
}

net::awaitable<marker_writer::outcome> marker_writer::send(const marker_request& request) {
    const auto body = std::make_shared<const std::string>(encode(request, from_.gate));
    const http::fields headers = headers_of(request, from_.settings);
    const upstream_request message{.headers = headers,
                                   .tenant_header = from_.settings.tenant_header,
                                   .query = {},
                                   .body = *body,
                                   .body_owner = body};
    auto answer = co_await client_.post(message);
    if (!answer) {
        const upstream_error& error = answer.error();
        log_failed(request.samples.size(), request.tenant, name_of(error.reason),
                   unanswered_line(error, from_.settings.upstream));
        co_return outcome::away;
    }
    const reply response = passed_on(std::move(*answer), from_.settings.tenant_header, client_.shared().access);
    if (is_success(response.status)) co_return outcome::taken;
    log_failed(request.samples.size(), request.tenant, std::to_string(response.status),
               said_by_store(response, client_.shared().access).text);
    co_return response.status >= 500 ? outcome::away : outcome::rejected;
}

void marker_writer::log_failed(std::size_t samples, std::string_view tenant, std::string_view reason,
                               std::string_view err) {
    const auto markers = failures_.count(samples);
    if (!markers) return;
    log::warn("markers were not written", {{"markers", *markers},
                                           {"upstream", client_.shared().name},
                                           {"tenant", shown_tenant(tenant)},
                                           {"reason", reason},
                                           {"err", err}});
}

}  // namespace seriesgate
