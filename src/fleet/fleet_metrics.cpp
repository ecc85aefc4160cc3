#include "fleet/fleet_metrics.hpp"

#include "metrics/exposition.hpp"

namespace seriesgate {
namespace {

void write_now(exposition& out, const fleet_facts& now) {
    out.family("seriesgate_shared_up", "Whether newcomers are asked about at the shared store.", metric_type::gauge);
    out.sample({}, now.state == fleet_state::joined ? 1 : 0);
    out.family("seriesgate_shared_state", "How the gate stands with its fleet: 1 for the state that it is in.",
               metric_type::gauge);
    for (const fleet_state each : {fleet_state::joining, fleet_state::joined, fleet_state::away})
        out.sample({{"state", name_of(each)}}, now.state == each ? 1 : 0);
    out.family("seriesgate_shared_gates", "Gates of the namespace that were heard of in the last two hours.",
               metric_type::gauge);
    out.sample({}, now.gates.size());
    out.family("seriesgate_shared_clock_offset_seconds", "The clock of the shared store less that of the gate.",
               metric_type::gauge);
    out.sample({}, std::chrono::duration<double>(now.clock_offset).count());
}

void write_failures(exposition& out, const fleet_metrics& metrics) {
    out.family("seriesgate_shared_claim_failures_total",
               "Claims that came to nothing, by reason; closed ones were made anew.", metric_type::counter);
    for (std::size_t i = 0; i < metrics.failures.size; ++i) {
        const auto why = static_cast<redis_error::kind>(i);
        out.sample({{"reason", name_of(why)}}, metrics.failures[why].value());
    }
    out.sample({{"reason", "no_turn"}}, metrics.no_turn.value());
    out.sample({{"reason", "closed"}}, metrics.closed.value());
}

void write_series(exposition& out, const fleet_metrics& metrics, bool admits) {
    out.family("seriesgate_shared_claimed_series_total",
               "Series that the shared store was asked about, by what it has said.", metric_type::counter);
    out.sample({{"outcome", "known"}}, metrics.series[claim_outcome::known].value());
    out.sample({{"outcome", "taken"}}, metrics.series[claim_outcome::taken].value());
    out.sample({{"outcome", "refused"}}, metrics.series[claim_outcome::refused].value());
    out.sample({{"outcome", "unknown"}}, metrics.series[claim_outcome::unknown].value());
    out.family("seriesgate_shared_unanswered_series_total",
               "Series that the shared store gave no answer about, by what they got.", metric_type::counter);
    const auto count = metrics.unanswered_series.value();
    out.sample({{"answer", "refused"}}, admits ? 0 : count);
    out.sample({{"answer", "admitted"}}, admits ? count : 0);
}

}  // namespace

void write(exposition& out, const fleet_metrics& metrics, const fleet_facts& now) {
    write_now(out, now);
    write_counter(out, "seriesgate_shared_claims_total", "Claims that the shared store has answered.", metrics.claims);
    write_failures(out, metrics);
    write_histogram(out, "seriesgate_shared_claim_duration_seconds",
                    "Time from sending a claim to having read the answer.", metrics.claim_duration);
    write_series(out, metrics, now.admits);
    write_gauge(out, "seriesgate_shared_asks_waiting", "Requests that wait for their turn to ask the shared store.",
                metrics.waiting);
}

}  // namespace seriesgate
