#include "ingest/ingest_shared.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/clock.hpp"
#include "fleet/fleet_shared.hpp"

namespace seriesgate {

shared_stores::shared_stores(const upstream_config& upstream, upstream_metrics& metrics, std::size_t workers)
    : first(upstream, 0, metrics, workers) {
    for (std::size_t i = 1; i <= upstream.replicas.size(); ++i) replicas.emplace_back(upstream, i, workers);
}

void shared_stores::refresh_files(const file_look& look) {
    first.access.refresh(look);
    for (shared_replica& each : replicas) each.store.access.refresh(look);
}

shared_stores::copy_room shared_stores::begin_copy(std::int64_t bytes) noexcept {
    const std::int64_t count = copies += 1;
    const std::int64_t held = copies_bytes += bytes + copy_bytes_each;
    copy_room room{this, end_copy{bytes}};
    return count <= copies_max && held <= copies_bytes_max ? std::move(room) : nullptr;
}

void shared_stores::end_copy::operator()(shared_stores* of) const noexcept {
    of->copies_bytes -= bytes + copy_bytes_each;
    of->copies -= 1;
}

time_point ingest_shared::now() const noexcept {
    return fleet != nullptr ? fleet->now() : time_point{wall_clock::now()};
}

std::vector<const shared_store*> shared_stores::all() const {
    std::vector<const shared_store*> stores{&first};
    for (const shared_replica& each : replicas) stores.push_back(&each.store);
    return stores;
}

namespace {

/// The usual status codes, exported from zero on, so that rate() sees the first event.
constexpr std::array usual_codes{200u, 204u, 400u, 401u, 403u, 404u, 429u, 500u, 502u, 503u, 504u};

void write_responses(exposition& out, const shared_replica& of) {
    const counter_by_status& counts = of.metrics.upstream_responses;
    for (unsigned code = counts.code_min; code <= counts.code_max; ++code)
        if (std::ranges::find(usual_codes, code) != usual_codes.end() || counts[code].value() != 0)
            out.sample({{"replica", of.store.name}, {"code", std::to_string(code)}}, counts[code].value());
}

void write_errors(exposition& out, const shared_replica& of) {
    for (std::size_t i = 0; i < of.metrics.upstream_errors.size; ++i) {
        const auto reason = static_cast<upstream_error_reason>(i);
        out.sample({{"replica", of.store.name}, {"reason", name_of(reason)}},
                   of.metrics.upstream_errors[reason].value());
    }
    out.sample({{"replica", of.store.name}, {"reason", "dropped"}}, of.dropped.value());
}

}  // namespace

void write(exposition& out, const shared_stores& stores) {
    out.family("seriesgate_replica_responses_total", "Answers of a replica to data, by HTTP status code.",
               metric_type::counter);
    for (const shared_replica& each : stores.replicas) write_responses(out, each);
    out.family("seriesgate_replica_errors_total",
               "Requests that a replica gave no answer to, or was not sent (dropped), by reason.",
               metric_type::counter);
    for (const shared_replica& each : stores.replicas) write_errors(out, each);
    const auto write_samples = [&](std::string_view name, std::string_view help, counter shared_replica::*samples) {
        out.family(name, help, metric_type::counter);
        for (const shared_replica& each : stores.replicas)
            out.sample({{"replica", each.store.name}}, (each.*samples).value());
    };
    write_samples("seriesgate_replica_samples_stored_total",
                  "Accepted samples and native histograms that a replica has confirmed.",
                  &shared_replica::samples_stored);
    write_samples("seriesgate_replica_samples_failed_total",
                  "Accepted samples and native histograms that a replica has not confirmed; with bestEffort they are "
                  "lost to it, otherwise their senders come again.",
                  &shared_replica::samples_failed);
    write_gauge(out, "seriesgate_replica_copies_bytes",
                "What requests take that are on their way to replicas that nobody waits for.",
                stores.copies_bytes.load());
    write_backends(out, stores.all());
}

}  // namespace seriesgate
