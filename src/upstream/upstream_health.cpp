#include "upstream/upstream_health.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/beast/core/error.hpp>
#include <cassert>
#include <utility>

namespace seriesgate {
namespace {

/// Usual status codes, exported from zero on. All that mean lost data are here, since an alert sees no increase in a
/// counter that begins with its first burst.
constexpr std::array usual_codes{200u, 202u, 204u, 300u, 304u, 305u, 400u, 401u, 402u, 403u, 404u,
                                 405u, 406u, 407u, 408u, 409u, 410u, 411u, 412u, 413u, 414u, 415u,
                                 416u, 417u, 418u, 421u, 422u, 423u, 424u, 425u, 426u, 428u, 429u,
                                 431u, 451u, 499u, 500u, 501u, 502u, 503u, 504u, 507u, 508u};

std::chrono::milliseconds since(upstream_health::clock::time_point begin, upstream_health::clock::time_point now) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - begin);
}

constexpr unsigned unavailable = 503;

double seconds(circuit_breaker::clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

circuit_breaker::clock::time_point at(circuit_breaker::clock::rep ticks) {
    return circuit_breaker::clock::time_point{circuit_breaker::clock::duration{ticks}};
}

}  // namespace

std::string_view name_of(upstream_error_reason reason) noexcept {
    return name_among({"dns", "connection_refused", "connect_timeout", "no_route", "connect_failed", "connection_lost",
                       "tls", "invalid_answer", "timeout", "busy", "unauthorized", "redirected"},
                      reason);
}

upstream_error_reason reason_of_connect(error_code error) noexcept {
    if (error == net::error::connection_refused) return upstream_error_reason::connection_refused;
    if (error == boost::beast::error::timeout || error == net::error::timed_out)
        return upstream_error_reason::connect_timeout;
    // Accepted and reset at once: connect() or the first write reports it, depending on timing.
    if (error == net::error::connection_reset) return upstream_error_reason::connection_lost;
    const bool is_without_route = error == net::error::host_unreachable || error == net::error::network_unreachable ||
                                  error == net::error::network_down;
    return is_without_route ? upstream_error_reason::no_route : upstream_error_reason::connect_failed;
}

void write(exposition& out, const upstream_metrics& metrics) {
    write_counters(out, "seriesgate_upstream_errors_total",
                   "Requests to the upstream that got no answer that could be passed on, by reason.", "reason",
                   metrics.upstream_errors);
    write_status_counters(out, "seriesgate_upstream_responses_total",
                          "Answers of the upstream to data, by HTTP status code.", metrics.upstream_responses,
                          usual_codes);
    write_histogram(out, "seriesgate_upstream_request_duration_seconds",
                    "Time from sending a request upstream to having read the answer, failures included.",
                    metrics.upstream_request_duration);
    write_counter(out, "seriesgate_upstream_sent_bytes_total", "Bytes of request bodies sent upstream, compressed.",
                  metrics.upstream_sent_bytes);
}

std::optional<std::uint64_t> upstream_health::failed(upstream_error_reason reason, clock::time_point now) {
    assert(reason < upstream_error_reason::count_);
    const auto held = outage_.lock();
    if (!is_failing_.exchange(true)) {
        held->since = now;
        held->requests = 0;
        held->is_logged = false;
    }
    ++held->requests;
    const auto line = held->lines.count(reason, 1, now);
    if (line) held->is_logged = true;
    return line;
}

void upstream_health::rest(const std::function<void(upstream_error_reason, std::uint64_t)>& tell,
                           clock::time_point now) {
    const auto held = outage_.lock();
    held->lines.rest(
        [&](upstream_error_reason reason, std::uint64_t requests) {
            held->is_logged = true;
            tell(reason, requests);
        },
        now);
}

std::optional<upstream_health::outage> upstream_health::answered(clock::time_point now) {
    if (!is_failing_.load(std::memory_order_relaxed)) [[likely]]
        return std::nullopt;
    const auto held = outage_.lock();
    const bool is_end = is_failing_.exchange(false);
    if (!is_end || !held->is_logged) return std::nullopt;
    return outage{.lasted = since(held->since, now), .requests = held->requests};
}

std::optional<name_health::news> name_health::looked_up(error_code error, clock::time_point now) {
    const auto held = state_.lock();
    const bool was_well = held->fault.empty();
    if (!error) {
        held->fault.clear();
        if (was_well || !std::exchange(held->is_logged, false)) return std::nullopt;
        return news{.resolves = true, .lasted = since(held->since, now)};
    }
    if (was_well) held->since = now;
    held->fault = error.message();
    if (!held->line.count(1, now)) return std::nullopt;
    held->is_logged = true;
    return news{.resolves = false, .lasted = since(held->since, now)};
}

double circuit_breaker::share(clock::time_point now) const noexcept {
    const auto since = at(healthy_since_.load(std::memory_order_relaxed));
    if (since + slow_start <= now) return 1;
    return std::max(0.0, seconds(now - since) / seconds(slow_start));
}

circuit_breaker::clock::time_point circuit_breaker::due() const noexcept {
    return at(due_.load(std::memory_order_relaxed));
}

/// Doubles the pause each time. It is pause_min again after a full recovery.
void circuit_breaker::leave_out(times& held, backend_state as, clock::time_point now) {
    if (state() == backend_state::healthy) {
        held.ejected_since = now;
        const bool had_recovered = share(now) == 1;
        if (had_recovered) held.pause = pause_min;
    }
    held.busy_until = {};
    held.changed_at = now;
    due_ = (now + held.pause).time_since_epoch().count();
    held.pause = std::min(2 * held.pause, pause_max);
    state_ = as;
}

bool circuit_breaker::take_probe(clock::time_point now, clock::time_point until) {
    if (state() != backend_state::ejected || now < due()) return false;
    const auto held = times_.lock();
    if (state() != backend_state::ejected || now < held->busy_until) return false;
    held->busy_until = until;
    return true;
}

void circuit_breaker::accepts(clock::time_point now) {
    const auto held = times_.lock();
    if (state() != backend_state::ejected) return;
    held->busy_until = {};
    held->changed_at = now;
    state_ = backend_state::half_open;
}

/// Whether a trial is due, even if one is running.
bool circuit_breaker::is_for_trial(clock::time_point now) const noexcept {
    const backend_state is = state();
    return is == backend_state::half_open || (is == backend_state::overloaded && now >= due());
}

bool circuit_breaker::has_trial(clock::time_point now) {
    return is_for_trial(now) && times_.lock()->busy_until <= now;
}

bool circuit_breaker::take_trial(clock::time_point now, clock::time_point until) {
    const auto held = times_.lock();
    if (!is_for_trial(now) || now < held->busy_until) return false;
    held->busy_until = until;
    return true;
}

bool circuit_breaker::failed(clock::time_point began, clock::time_point now) {
    const auto held = times_.lock();
    const backend_state was = state();
    if (began < held->changed_at) return false;
    // Of many requests that fail together, only the first one changes the state.
    const bool is_news = was != backend_state::ejected || held->busy_until > now;
    if (is_news) leave_out(*held, backend_state::ejected, now);
    return was == backend_state::healthy || was == backend_state::overloaded;
}

std::optional<std::chrono::milliseconds> circuit_breaker::answered(unsigned status, clock::time_point began,
                                                                   clock::time_point now) {
    if (status == unavailable && is_overloaded(began, now)) return std::nullopt;
    if (status != unavailable && overloaded_.load(std::memory_order_relaxed) != 0) overloaded_ = 0;
    if (state() == backend_state::healthy) [[likely]]
        return std::nullopt;
    const auto held = times_.lock();
    if (state() == backend_state::healthy || began < held->changed_at) return std::nullopt;
    held->busy_until = {};
    held->changed_at = now;
    healthy_since_ = now.time_since_epoch().count();
    state_ = backend_state::healthy;
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - held->ejected_since);
}

/// @return whether the backend counts as overloaded.
bool circuit_breaker::is_overloaded(clock::time_point began, clock::time_point now) {
    if (overloaded_.fetch_add(1, std::memory_order_relaxed) + 1 < overloaded_max) return false;
    const auto held = times_.lock();
    const bool is_news = state() != backend_state::overloaded || now >= due();
    if (is_news && began >= held->changed_at) leave_out(*held, backend_state::overloaded, now);
    return true;
}

}  // namespace seriesgate
