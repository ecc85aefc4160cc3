#include "fleet/fleet_exposition.hpp"

#include <chrono>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "fleet/fleet_shared.hpp"

namespace seriesgate {
namespace {

std::string_view outcome_name(claim_outcome of) noexcept {
    switch (of) {
        case claim_outcome::known:
            return "known";
        case claim_outcome::taken:
            return "taken";
        case claim_outcome::refused:
            return "refused";
        case claim_outcome::unknown:
        case claim_outcome::count_:
            break;
    }
    return "unknown";
}

std::string_view result_name(download_result of) noexcept {
    switch (of) {
        case download_result::complete:
            return "complete";
        case download_result::overtaken:
            return "overtaken";
        case download_result::failed:
        case download_result::count_:
            break;
    }
    return "failed";
}

}  // namespace

void write(exposition& out, fleet_shared& of) {
    const fleet_metrics& metrics = of.metrics;
    out.family("seriesgate_shared_up", "Whether the gate has joined its fleet and the shared store answers.",
               metric_type::gauge);
    out.sample({}, of.state() == fleet_state::joined ? 1 : 0);
    out.family("seriesgate_shared_gates", "Gates of the namespace that gave a sign of life in the last two hours.",
               metric_type::gauge);
    out.sample({}, of.members().size());
    out.family("seriesgate_shared_clock_offset_seconds", "The shared store's clock less this gate's own.",
               metric_type::gauge);
    out.sample({}, std::chrono::duration<double>(of.clock_offset()).count());
    write_counter(out, "seriesgate_shared_claims_total", "Claims that the shared store has answered.", metrics.claims);
    out.family("seriesgate_shared_claimed_series_total", "Series in answered claims, by what the shared store said.",
               metric_type::counter);
    for (std::size_t i = 0; i < metrics.series.size; ++i) {
        const auto outcome = static_cast<claim_outcome>(i);
        out.sample({{"outcome", outcome_name(outcome)}}, metrics.series[outcome].value());
    }
    write_counter(out, "seriesgate_shared_unanswered_series_total",
                  "Series without an answer of the shared store: they got what shared.onUnavailable says.",
                  metrics.unanswered_series);
    out.family("seriesgate_shared_claim_failures_total", "Claims without an answer, by reason.", metric_type::counter);
    for (std::size_t i = 0; i < metrics.failures.size; ++i) {
        const auto reason = static_cast<redis_error::kind>(i);
        out.sample({{"reason", name_of(reason)}}, metrics.failures[reason].value());
    }
    out.sample({{"reason", "lost"}}, metrics.lost.value());
    out.sample({{"reason", "no_turn"}}, metrics.no_turn.value());
    write_counter(out, "seriesgate_shared_claims_closed_total",
                  "Claims for an hour that was over for the shared store, made anew.", metrics.closed);
    write_counter(out, "seriesgate_shared_recoveries_total",
                  "Times that the shared store may have lost counts, and gates made them whole again.",
                  metrics.recoveries);
    out.family("seriesgate_shared_at_once",
               "Whether the shared store keeps the places of incumbents that this gate accepts without asking.",
               metric_type::gauge);
    out.sample({}, of.keeps_places ? 1 : 0);
    out.family("seriesgate_shared_untold_series",
               "Incumbents that were accepted at once, and of which the shared store has yet to be told.",
               metric_type::gauge);
    out.sample({}, of.untold.size());
    out.family("seriesgate_shared_told_series_total",
               "Incumbents that were accepted at once, by what the shared store said when it was told of them.",
               metric_type::counter);
    for (const claim_outcome outcome : {claim_outcome::known, claim_outcome::taken, claim_outcome::refused})
        out.sample({{"outcome", outcome_name(outcome)}}, metrics.told[outcome].value());
    out.sample({{"outcome", "too_late"}}, metrics.told_too_late.value());
    out.family("seriesgate_shared_downloads_total",
               "Times that the fleet's series were read from the shared store, by how that ended.",
               metric_type::counter);
    for (std::size_t i = 0; i < metrics.downloads.size; ++i) {
        const auto result = static_cast<download_result>(i);
        out.sample({{"result", result_name(result)}}, metrics.downloads[result].value());
    }
    write_counter(out, "seriesgate_shared_downloaded_series_total",
                  "Series that became known by reading them from the shared store.", metrics.downloaded_series);
    out.family("seriesgate_shared_feed_up",
               "Whether the gate knows all that other gates have taken in the hour, as of less than a second ago.",
               metric_type::gauge);
    out.sample({}, of.feed.fresh_hour(monotonic_clock::now()) ? 1 : 0);
    write_counter(out, "seriesgate_shared_fed_series_total",
                  "Series that other gates have taken, and that this one knows for it.", metrics.fed_series);
    write_counter(out, "seriesgate_shared_struck_series_total",
                  "Incumbents that were accepted at once, and of which another gate has told the shared store.",
                  metrics.struck_series);
    write_counter(out, "seriesgate_shared_feed_gaps_total",
                  "Times that something was missing in what the gate read of other gates' claims.", metrics.feed_gaps);
    write_counter(out, "seriesgate_shared_unasked_series_total",
                  "Series that were refused without a claim: a budget of theirs was known to be spent.",
                  metrics.unasked_series);
    out.family(
        "seriesgate_shared_has_share",
        "Whether this gate has a share of the hour's limits, for new series that the shared store does not answer.",
        metric_type::gauge);
    out.sample({}, of.own_shares.has_share(hour_number(of.now())) ? 1 : 0);
    write_counter(out, "seriesgate_shared_share_series_total",
                  "New series that were let pass out of this gate's share, without an answer of the shared store.",
                  metrics.shared_out);
    out.family("seriesgate_shared_owed_series",
               "New series that were let pass out of a share, and of which the shared store has yet to be told.",
               metric_type::gauge);
    out.sample({}, of.own_shares.owed());
    out.family("seriesgate_shared_owed_told_series_total",
               "New series that were let pass out of a share, by what the shared store said when it was told of them.",
               metric_type::counter);
    for (const claim_outcome outcome : {claim_outcome::known, claim_outcome::taken, claim_outcome::refused})
        out.sample({{"outcome", outcome_name(outcome)}}, metrics.owed[outcome].value());
    out.sample({{"outcome", "too_late"}}, metrics.owed_too_late.value());
    write_gauge(out, "seriesgate_shared_claims_waiting", "Claims that wait for their turn.", metrics.waiting);
    write_histogram(out, "seriesgate_shared_claim_duration_seconds",
                    "Time from sending a claim to having read its answer.", metrics.claim_duration);
    write(out, of.store.metrics);
}

}  // namespace seriesgate
