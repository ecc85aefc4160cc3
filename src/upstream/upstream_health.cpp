#include "upstream/upstream_health.hpp"

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

void upstream_health::rest(const std::function<void(upstream_error_reason, std::uint64_t)>& log,
                           clock::time_point now) {
    const auto held = outage_.lock();
    held->lines.rest(
        [&](upstream_error_reason reason, std::uint64_t requests) {
            held->is_logged = true;
            log(reason, requests);
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

}  // namespace seriesgate
