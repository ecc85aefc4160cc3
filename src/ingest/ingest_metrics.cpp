#include "ingest/ingest_metrics.hpp"

#include "series/label.hpp"

namespace seriesgate {

void limit_counters::add(std::string_view limit, std::string_view tenant, std::uint64_t amount, clock::time_point now) {
    const std::scoped_lock held{lock_};
    if (counts_.is_full() && now >= next_look_) make_room(now);
    count& of = counts_.at(limit, tenant);
    of.amount += amount;
    of.last = now;
}

void limit_counters::make_room(clock::time_point now) {
    next_look_ = now + look_interval;
    counts_.erase_if([now](const count& each) { return now - each.last >= idle_min; });
}

std::uint64_t limit_counters::total() const {
    const std::scoped_lock held{lock_};
    std::uint64_t sum = 0;
    counts_.for_each([&](std::string_view, std::string_view, const count& each) { sum += each.amount; });
    return sum;
}

std::vector<limit_counters::occasion> limit_counters::last_occasions() const {
    std::vector<occasion> all;
    copy().for_each([&](const std::string& limit, const std::string& tenant, const count& each) {
        if (tenant != other_tenants) all.push_back({.limit = limit, .tenant = tenant, .last = each.last});
    });
    return all;
}

void limit_counters::write(exposition& out, std::string_view name, std::string_view help) const {
    out.family(name, help, metric_type::counter);
    const limit_table<count> counts = copy();  // copied, so that requests do not wait for the text
    counts.for_each([&](std::string_view limit, std::string_view tenant, const count& each) {
        out.sample({{"limit", limit}, {"tenant", readable(tenant)}}, each.amount);
    });
}

limit_table<limit_counters::count> limit_counters::copy() const {
    const std::scoped_lock held{lock_};
    return counts_;
}

void write(exposition& out, const marker_metrics& metrics) {
    write_counter(
        out, "seriesgate_markers_written_total",
        "Samples of markers that a store has taken, ends of markers included, see marker in the configuration.",
        metrics.written);
    write_counter(out, "seriesgate_markers_failed_total",
                  "Samples of markers that a store has not taken: it answered with an error, or not at all.",
                  metrics.failed);
}

void write(exposition& out, const ingest_metrics& metrics) {
    write_counters(out, "seriesgate_requests_forwarded_total",
                   "Decoded requests by what was sent upstream: the sender's own bytes (unchanged), the kept part "
                   "(spliced), what was kept in remote write 1 (translated), or nothing since everything was refused "
                   "(none).",
                   "kind", metrics.requests_forwarded);
    write_counter(out, "seriesgate_query_arguments_dropped_total",
                  "Arguments of senders' query strings that were left out, see upstream.forwardQuery.",
                  metrics.query_arguments_dropped);
    write_counter(out, "seriesgate_requests_discarded_total",
                  "Requests accepted and dropped because upstream.url is discard:.", metrics.requests_discarded);
    write_counter(out, "seriesgate_unconfirmed_requests_total",
                  "Remote write 2 requests that the upstream answered with success without saying what it has written.",
                  metrics.unconfirmed_requests);
    write_counter(out, "seriesgate_partly_written_requests_total",
                  "Remote write 2 requests that the upstream answered with success, saying that it has written fewer "
                  "samples than it was sent.",
                  metrics.partly_written_requests);
    write_counter(out, "seriesgate_untranslated_histograms_total",
                  "Native histograms with custom buckets that were left out because upstream.protocol is v1.",
                  metrics.untranslated_histograms);
    write_counter(out, "seriesgate_untranslated_series_total",
                  "Series entries that were left out because upstream.protocol is v1 and a store would drop them: no "
                  "metric name, a label's name twice, no UTF-8.",
                  metrics.untranslated_series);
    write_counters(out, "seriesgate_series_left_out_total",
                   "Series entries that were left out of their requests because they break a rule of remote write.",
                   "reason", metrics.series_left_out);
    write_counter(out, "seriesgate_samples_left_out_total",
                  "Samples and native histograms of seriesgate_series_left_out_total.", metrics.samples_left_out);
    write_counter(out, "seriesgate_samples_received_total",
                  "Samples and native histograms received in requests that decode.", metrics.samples_received);
    write_counter(out, "seriesgate_samples_accepted_total", "Samples and native histograms that passed the limits.",
                  metrics.samples_accepted);
    write_counter(out, "seriesgate_samples_refused_total",
                  "Samples and native histograms refused: by limits, and stale markers of series that nobody admitted.",
                  metrics.samples_refused);
    write_counter(out, "seriesgate_samples_refused_by_limits_total",
                  "Samples and native histograms refused because a limit is spent, or because the shared store gave no "
                  "answer: seriesgate_samples_refused_total without the stale markers.",
                  metrics.samples_refused_by_limits);
    metrics.limit_samples_refused.write(
        out, "seriesgate_limit_samples_refused_total",
        "Samples and native histograms refused, by limit (its name, global, tenant, __unknown__: stale markers of "
        "series that nobody admitted, or __unavailable__: no answer of the shared store) and tenant of the sender. "
        "Adds up to seriesgate_samples_refused_total.");
    metrics.limit_samples_observed.write(
        out, "seriesgate_limit_samples_would_refuse_total",
        "Samples and native histograms that admitted a series though a limit with mode observe had no room, by limit "
        "and tenant of the sender. Further samples of these series are of known ones, and not counted.");
    write_counter(out, "seriesgate_samples_stored_total",
                  "Accepted samples and native histograms that the upstream and all required replicas have confirmed.",
                  metrics.samples_stored);
    write_counter(
        out, "seriesgate_samples_failed_total",
        "Accepted samples and native histograms that the upstream or a required replica has not confirmed: it answered "
        "with an error, gave no answer, or did not say that it has written them.",
        metrics.samples_failed);
    write_counter(out, "seriesgate_unknown_dropped_total",
                  "Stale markers and exemplar-only entries dropped because their series is not known.",
                  metrics.unknown_dropped);
    write_counter(out, "seriesgate_histograms_received_total",
                  "Native histograms received; also counted as samples received.", metrics.histograms_received);
    write_counter(out, "seriesgate_exemplars_received_total", "Exemplars received.", metrics.exemplars_received);
    write_counter(out, "seriesgate_metadata_received_total", "Metadata entries received.", metrics.metadata_received);
    write_counter(out, "seriesgate_received_bytes_total", "Bytes of request bodies received, compressed.",
                  metrics.received_bytes);
    write_counter(out, "seriesgate_decoded_bytes_total", "Bytes of request bodies received, decompressed.",
                  metrics.decoded_bytes);
}

}  // namespace seriesgate
