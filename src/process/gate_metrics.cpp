#include "process/gate_metrics.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/metrics.hpp"
#include "fleet/fleet_shared.hpp"
#include "ingest/ingest_shared.hpp"
#include "ingest/warm_series.hpp"

namespace seriesgate {
namespace {

/// All counters, zero ones included.
template <class Enum>
named_counts by_name(const counter_by<Enum>& counters) {
    named_counts made;
    for (std::size_t i = 0; i < counters.size; ++i) {
        const auto key = static_cast<Enum>(i);
        made.emplace_back(name_of(key), counters[key].value());
    }
    return made;
}

/// Only non-zero counters.
named_counts by_status(const counter_by_status& counters) {
    named_counts made;
    const auto add = [&](std::string name, unsigned code) {
        if (const auto value = counters[code].value(); value != 0) made.emplace_back(std::move(name), value);
    };
    for (unsigned code = counters.code_min; code <= counters.code_max; ++code) add(std::to_string(code), code);
    add("other", counters.other);
    return made;
}

request_counts count_requests(const gate_metrics& of) {
    return {.total = of.http.requests.total(),
            .rejected = of.http.rejected_4xx.value(),
            .upstream_errors = of.upstream.upstream_errors.total(),
            .unconfirmed = of.ingest.unconfirmed_requests.value(),
            .partly_written = of.ingest.partly_written_requests.value(),
            .by_status = by_status(of.http.requests),
            .upstream_by_status = by_status(of.upstream.upstream_responses),
            .rejected_by_reason = by_name(of.http.requests_rejected),
            .upstream_errors_by_reason = by_name(of.upstream.upstream_errors)};
}

sample_counts count_samples(const ingest_metrics& of) {
    return {.received = of.samples_received.value(),
            .accepted = of.samples_accepted.value(),
            .refused = of.samples_refused.value(),
            .refused_by_limits = of.samples_refused_by_limits.value(),
            .left_out = of.samples_left_out.value(),
            .stored = of.samples_stored.value(),
            .failed = of.samples_failed.value()};
}

dropped_counts count_dropped(const ingest_metrics& of) {
    return {.unknown_entries = of.unknown_dropped.value(),
            .left_out_series = by_name(of.series_left_out),
            .untranslated_series = of.untranslated_series.value(),
            .untranslated_histograms = of.untranslated_histograms.value()};
}

std::vector<backend_counts> count_backends(const shared_store& of) {
    std::vector<backend_counts> made;
    for (const shared_backend& each : of.backends)
        made.push_back({.name = each.name,
                        .is_up = each.health.is_up(),
                        .in_flight = each.in_flight.value(),
                        .connections = each.connections.value(),
                        .requests = each.requests.value(),
                        .errors = each.errors.total()});
    return made;
}

connection_counts count_connections(const http_metrics& of) {
    return {.open = of.connections.value(),
            .accepted = of.connections_accepted.value(),
            .given_up_by_reason = by_name(of.connections_given_up),
            .turned_away_by_reason = by_name(of.connections_turned_away)};
}

}  // namespace

gate_counts gate_metrics::counts() const {
    return {.requests = count_requests(*this),
            .samples = count_samples(ingest),
            .dropped = count_dropped(ingest),
            .connections = count_connections(http)};
}

upkeep_facts gate_metrics::upkeep(bool keeps_state) const {
    upkeep_facts made{
        .config_taken_over = std::chrono::sys_seconds{std::chrono::seconds{reload.success_seconds.value()}},
        .reload_successful = reload.successful.value() != 0,
        .web_config_successful = reload.web_successful.value() != 0,
        .keeps_state = keeps_state};
    if (state.saves.value() != 0)
        made.state_saved = std::chrono::sys_seconds{std::chrono::seconds{state.save_seconds.value()}};
    return made;
}

warm_counts counts_of(const warm_series& of) {
    return {.state = name_of(of.state()),
            .series = of.admitted.value(),
            .younger = of.younger.value(),
            .without_room = of.without_room.value(),
            .names = of.names.value(),
            .names_read = of.names_read.value(),
            .names_in_part = of.names_in_part.value(),
            .met = of.met()};
}

shared_counts counts_of(fleet_shared& fleet) {
    const fleet_metrics& metrics = fleet.metrics;
    const auto durations = metrics.claim_duration.read();
    const auto answered = static_cast<double>(durations.count);
    const std::uint64_t completed = metrics.series[store_outcome::completed].value();
    shared_counts made{.state = name_of(fleet.view.state()),
                       .name_space = fleet.settings.name_space,
                       .counts = {{"claims", metrics.claims.value()},
                                  {"known", metrics.series[store_outcome::known].value()},
                                  {"taken", metrics.series[store_outcome::taken].value() + completed},
                                  {"completed", completed},
                                  {"refused", metrics.series[store_outcome::refused].value()},
                                  {"unanswered", metrics.unanswered_series.value()},
                                  {"alone", metrics.alone_series.value()},
                                  {"untold", static_cast<std::uint64_t>(metrics.untold.value())},
                                  {"losses", metrics.losses.value()},
                                  {"waiting", static_cast<std::uint64_t>(metrics.waiting.value())}},
                       .clock_offset_seconds = std::chrono::duration<double>(fleet.clock_offset()).count(),
                       .latency_seconds = durations.count == 0
                                              ? 0.0
                                              : std::chrono::duration<double>(durations.sum).count() / answered};
    const auto members = fleet.members.lock();
    const auto since = std::chrono::floor<std::chrono::seconds>(monotonic_clock::now() - members->as_of).count();
    for (const gate_heard_of& each : members->all)
        made.gates.push_back(
            {.name = each.name, .version = each.version, .seen_seconds_ago = each.silent_seconds + since});
    return made;
}

std::vector<store_counts> counts_of(const shared_stores& stores) {
    std::vector<store_counts> made;
    if (stores.first.backends.empty()) return made;
    for (const shared_store* store : stores.all())
        made.push_back({.name = store->name, .waiting = store->waiting.value(), .backends = count_backends(*store)});
    for (std::size_t i = 0; i < stores.replicas.size(); ++i) {
        const shared_replica& replica = stores.replicas[i];
        store_counts& counts = made[i + 1];
        counts.is_replica = true;
        counts.best_effort = replica.settings.best_effort;
        counts.samples_stored = replica.samples_stored.value();
        counts.samples_failed = replica.samples_failed.value();
    }
    return made;
}

void write(exposition& out, const gate_metrics& metrics) {
    write(out, metrics.http);
    write(out, metrics.ingest);
    write(out, metrics.markers);
    write(out, metrics.upstream);
    write(out, metrics.reload);
    write(out, metrics.state);
    out.family("seriesgate_log_lines_lost_total", "Lines of the log that could not be written in time.",
               metric_type::counter);
    out.sample({}, log::lost_lines());
}

}  // namespace seriesgate
