#include "fleet/fleet_exposition.hpp"

#include <chrono>
#include <string_view>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "fleet/fleet_shared.hpp"

namespace seriesgate {
namespace {

std::string_view outcome_name(store_outcome of) noexcept {
    switch (of) {
        case store_outcome::known:
            return "known";
        case store_outcome::taken:
            return "taken";
        case store_outcome::completed:
            return "completed";
        case store_outcome::refused:
            return "refused";
        case store_outcome::waits:
            return "waits";
        case store_outcome::unknown:
        case store_outcome::count_:
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

void write_states(exposition& out, store_reach now) {
    out.family("seriesgate_shared_state", "1 for what the gate makes of the shared store, 0 for all else.",
               metric_type::gauge);
    using enum store_reach;
    for (const store_reach each : {unheard, joined, refilling, away, wrong_clock})
        out.sample({{"state", name_of(each)}}, each == now ? 1 : 0);
}

void write_claims(exposition& out, const fleet_metrics& metrics) {
    write_counter(out, "seriesgate_shared_claims_total", "Claims that the shared store has answered.", metrics.claims);
    out.family("seriesgate_shared_claimed_series_total", "Series in answered claims, by what the shared store said.",
               metric_type::counter);
    for (std::size_t i = 0; i < metrics.series.size; ++i) {
        const auto outcome = static_cast<store_outcome>(i);
        out.sample({{"outcome", outcome_name(outcome)}}, metrics.series[outcome].value());
    }
    write_counter(out, "seriesgate_shared_unanswered_series_total",
                  "Series without an answer of the shared store: they got what shared.onUnavailable says.",
                  metrics.unanswered_series);
    write_counter(out, "seriesgate_shared_alone_series_total",
                  "Of the series without an answer: admitted in this gate's part of the room.", metrics.alone_series);
    out.family("seriesgate_shared_claim_failures_total", "Claims without an answer, by reason.", metric_type::counter);
    for (std::size_t i = 0; i < metrics.failures.size; ++i) {
        const auto reason = static_cast<redis_error::kind>(i);
        out.sample({{"reason", name_of(reason)}}, metrics.failures[reason].value());
    }
    out.sample({{"reason", "lost_data"}}, metrics.other_epoch.value());
    out.sample({{"reason", "no_turn"}}, metrics.no_turn.value());
    write_counter(out, "seriesgate_shared_claims_closed_total",
                  "Claims for an hour that was over for the shared store, made anew.", metrics.closed);
    write_gauge(out, "seriesgate_shared_claims_waiting", "Claims that wait for their turn.", metrics.waiting);
    write_histogram(out, "seriesgate_shared_claim_duration_seconds",
                    "Time from sending a claim to having read its answer.", metrics.claim_duration);
}

void write_told(exposition& out, const fleet_metrics& metrics) {
    write_counter(out, "seriesgate_shared_losses_total", "Times that the shared store was found to have lost data.",
                  metrics.losses);
    write_gauge(out, "seriesgate_shared_untold_series",
                "Series that have passed and that the shared store is about to be told of. There may be more.",
                metrics.untold);
    out.family("seriesgate_shared_told_series_total",
               "Series that had passed, by what the shared store said when it was told of them.", metric_type::counter);
    for (const store_outcome outcome : {store_outcome::known, store_outcome::taken})
        out.sample({{"outcome", outcome_name(outcome)}}, metrics.told[outcome].value());
}

void write_heard(exposition& out, fleet_shared& of) {
    const fleet_metrics& metrics = of.metrics;
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
    out.sample({}, of.view.is_fresh(monotonic_clock::now()) ? 1 : 0);
    write_counter(out, "seriesgate_shared_fed_series_total",
                  "Series that other gates have taken, and that this one knows for it.", metrics.fed_series);
    write_counter(out, "seriesgate_shared_feed_gaps_total",
                  "Times that something was missing in what the gate read of other gates' claims.", metrics.feed_gaps);
    write_counter(out, "seriesgate_shared_unasked_series_total",
                  "Series that were refused without a claim: a budget of theirs was known to be spent.",
                  metrics.unasked_series);
}

}  // namespace

void write(exposition& out, fleet_shared& of) {
    out.family("seriesgate_shared_up", "Whether the gate has joined its fleet and the shared store answers.",
               metric_type::gauge);
    out.sample({}, of.view.state() == store_reach::joined ? 1 : 0);
    write_states(out, of.view.state());
    out.family("seriesgate_shared_gates", "Gates of the namespace that gave a sign of life in this hour or the last.",
               metric_type::gauge);
    out.sample({}, of.members.lock()->size());
    out.family("seriesgate_shared_clock_offset_seconds", "The shared store's clock less this gate's own.",
               metric_type::gauge);
    out.sample({}, std::chrono::duration<double>(of.clock_offset()).count());
    write_claims(out, of.metrics);
    write_told(out, of.metrics);
    write_heard(out, of);
    write(out, of.store.metrics);
}

}  // namespace seriesgate
