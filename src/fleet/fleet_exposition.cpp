#include <array>
#include <chrono>
#include <string_view>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "fleet/fleet_shared.hpp"

namespace seriesgate {
namespace {

void write_states(exposition& out, store_reach now) {
    out.family("seriesgate_shared_state", "1 for what the gate makes of the shared store, 0 for all else.",
               metric_type::gauge);
    using enum store_reach;
    for (const store_reach each : {unheard, joined, refilling, away, wrong_clock})
        out.sample({{"state", name_of(each)}}, each == now ? 1 : 0);
}

void write_claims(exposition& out, const fleet_metrics& metrics) {
    write_counter(out, "seriesgate_shared_claims_total", "Claims that the shared store has answered.", metrics.claims);
    write_counters(out, "seriesgate_shared_claimed_series_total",
                   "Series in answered claims, by what the shared store said.", "outcome", metrics.series);
    write_counter(out, "seriesgate_shared_unanswered_series_total",
                  "Series without an answer of the shared store: they got what shared.onUnavailable says.",
                  metrics.unanswered_series);
    write_counter(out, "seriesgate_shared_alone_series_total",
                  "Of the series without an answer: admitted in this gate's part of the room.", metrics.alone_series);
    write_counters(out, "seriesgate_shared_claim_failures_total", "Claims without an answer, by reason.", "reason",
                   metrics.failures);
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
        out.sample({{"outcome", name_of(outcome)}}, metrics.told[outcome].value());
}

void write_heard(exposition& out, fleet_shared& of) {
    const fleet_metrics& metrics = of.metrics;
    write_counters(out, "seriesgate_shared_downloads_total",
                   "Times that the fleet's series were read from the shared store, by how that ended.", "result",
                   metrics.downloads);
    write_counter(out, "seriesgate_shared_downloaded_series_total",
                  "Series that became known by reading them from the shared store.", metrics.downloaded_series);
    write_gauge(out, "seriesgate_shared_feed_up",
                "Whether the gate knows all that other gates have taken in the hour, as of less than a second ago.",
                of.view.is_fresh(monotonic_clock::now()) ? 1 : 0);
    write_counter(out, "seriesgate_shared_fed_series_total",
                  "Series that other gates have taken, and that this one knows for it.", metrics.fed_series);
    write_counter(out, "seriesgate_shared_feed_gaps_total",
                  "Times that something was missing in what the gate read of other gates' claims.", metrics.feed_gaps);
    write_counter(out, "seriesgate_shared_unasked_series_total",
                  "Series that were refused without a claim: a budget of theirs was known to be spent.",
                  metrics.unasked_series);
}

}  // namespace

std::string_view name_of(store_outcome outcome) noexcept {
    return name_among({"known", "taken", "completed", "refused", "waits", "unknown"}, outcome);
}

std::string_view name_of(download_result result) noexcept {
    return name_among({"complete", "overtaken", "failed"}, result);
}

const char* name_of(store_reach state) noexcept {
    constexpr std::array names{"joining", "joined", "refilling", "away", "away: clock"};
    return names.at(static_cast<std::size_t>(state));
}

void write(exposition& out, fleet_shared& of) {
    write_gauge(out, "seriesgate_shared_up", "Whether the gate has joined its fleet and the shared store answers.",
                of.view.state() == store_reach::joined ? 1 : 0);
    write_states(out, of.view.state());
    write_gauge(out, "seriesgate_shared_gates",
                "Gates of the namespace that gave a sign of life in this hour or the last.",
                of.members.lock()->all.size());
    write_gauge(out, "seriesgate_shared_clock_offset_seconds", "The shared store's clock less this gate's own.",
                std::chrono::duration<double>(of.clock_offset()).count());
    write_claims(out, of.metrics);
    write_told(out, of.metrics);
    write_heard(out, of);
    write(out, of.store.metrics);
}

}  // namespace seriesgate
