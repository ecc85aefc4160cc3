#include "process/gate_metrics.hpp"

#include <sstream>

#include "base/metrics.hpp"
#include "fleet/fleet_shared.hpp"
#include "support/catch.hpp"
#include "support/samples.hpp"

namespace seriesgate::testing::gate_metrics_test {
namespace {

std::uint64_t count_of(const named_counts& counts, std::string_view name) {
    for (const auto& [each, count] : counts)
        if (each == name) return count;
    FAIL("no " << name);
    return 0;
}

/// What each owner has counted.
std::unique_ptr<gate_metrics> counted() {
    auto metrics = std::make_unique<gate_metrics>();
    metrics->http.requests[204].add(9);
    metrics->http.requests[503].add(1);
    metrics->http.requests[42].add(2);
    metrics->http.rejected_4xx.add(21);
    metrics->http.requests_rejected[reject_reason::malformed].add(3);
    metrics->ingest.requests_forwarded[body_action::spliced].add(5);
    metrics->ingest.requests_discarded.add(6);
    metrics->ingest.query_arguments_dropped.add(27);
    metrics->reload.requests.add(29);
    metrics->reload.reads.add(28);
    metrics->ingest.unconfirmed_requests.add(25);
    metrics->ingest.partly_written_requests.add(24);
    metrics->ingest.untranslated_histograms.add(26);
    metrics->ingest.untranslated_series.add(27);
    metrics->ingest.series_left_out[series_fault::label_too_long].add(28);
    metrics->ingest.samples_left_out.add(29);
    metrics->markers.written.add(33);
    metrics->markers.failed.add(34);
    metrics->upstream.upstream_errors[upstream_error_reason::timeout].add(7);
    metrics->upstream.upstream_errors[upstream_error_reason::dns].add(1);
    metrics->upstream.upstream_errors[upstream_error_reason::connection_lost].add(4);
    metrics->upstream.upstream_responses[204].add(4);
    metrics->upstream.upstream_responses[429].add(1);
    metrics->ingest.samples_received.add(32000);
    metrics->ingest.samples_accepted.add(31000);
    metrics->ingest.samples_refused.add(1000);
    metrics->ingest.samples_refused_by_limits.add(990);
    metrics->ingest.limit_samples_refused.add("per-job", "shop", 600);
    metrics->ingest.limit_samples_refused.add("global", "", 400);
    metrics->ingest.limit_samples_observed.add("tenant", "shop", 30);
    metrics->ingest.samples_stored.add(30000);
    metrics->ingest.samples_failed.add(900);
    metrics->ingest.unknown_dropped.add(8);
    metrics->ingest.histograms_received.add(11);
    metrics->ingest.exemplars_received.add(12);
    metrics->ingest.metadata_received.add(13);
    metrics->ingest.received_bytes.add(14);
    metrics->ingest.decoded_bytes.add(15);
    metrics->upstream.upstream_sent_bytes.add(16);
    metrics->http.inflight_requests.add(17);
    metrics->http.inflight_bytes.add(18);
    metrics->http.connections.add(19);
    metrics->http.connections_accepted.add(20);
    metrics->http.connections_given_up[connection_bound::per_peer].add(27);
    metrics->http.connections_turned_away[connection_bound::total].add(28);
    metrics->http.proxy_headers[proxy_header_outcome::completed].add(30);
    metrics->reload.successful.set(1);
    metrics->reload.success_seconds.set(1'700'000'000);
    metrics->reload.web_successful.set(1);
    metrics->state.saves.add(22);
    metrics->state.save_failures.add(23);
    metrics->state.bytes.set(24);
    metrics->state.save_seconds.set(1'700'000'010);
    return metrics;
}

TEST_CASE("no store is counted where requests are discarded, replicas neither") {
    upstream_config of;
    of.store.backends.resize(1);
    of.replicas.resize(1);
    of.replicas[0].store.backends.resize(1);
    upstream_metrics metrics;
    const shared_stores forwarding{of, metrics, 1};
    REQUIRE(counts_of(forwarding).size() == 2);
    CHECK(counts_of(forwarding)[1].is_replica);
    of.store.backends.clear();  // "discard:"
    const shared_stores discarding{of, metrics, 1};
    CHECK(counts_of(discarding).empty());
}

TEST_CASE("the metrics of all owners are written family by family") {
    const auto metrics = counted();
    exposition out;
    write(out, *metrics);
    // But what has tests of its own.
    CHECK(samples_of(out.take(), {"_duration_seconds", "_delay_seconds", "_upstream_responses_"}) ==
          family("requests_total", "code", "204 9 400 0 401 0 403 0 429 0 503 1 other 2") +
              family("requests_rejected_total", "reason",
                     "malformed 3 invalid_http 0 too_large 0 unsupported_media 0 method_not_allowed 0 unknown_path 0 "
                     "timeout 0 overloaded 0 queue_delay 0 refused 0 untranslated 0 left_out 0 loop 0 bad_argument 0 "
                     "pages_held 0 unauthenticated 0 forbidden 0 passwords_held 0") +
              plain("requests_abandoned_total 0 inflight_requests 17 inflight_bytes 18 connections 19 "
                    "connections_accepted_total 20") +
              family("connections_given_up_total", "reason",
                     "max_connections 0 max_connections_per_peer 27 descriptors 0 max_handshakes 0") +
              family("connections_turned_away_total", "reason",
                     "max_connections 28 max_connections_per_peer 0 descriptors 0 max_handshakes 0") +
              family("connections_timed_out_total", "waiting_for", "request 0 reading 0 ending 0") +
              family("proxy_headers_total", "outcome",
                     "completed 30 timeout 0 given_up 0 closed 0 malformed 0 untrusted 0") +
              plain("tls_handshakes_running 0") +
              family("tls_handshakes_total", "outcome",
                     "completed 0 timeout 0 given_up 0 closed 0 plain_http 0 certificate 0 failed 0") +
              plain("tls_certificate_not_after_timestamp_seconds 0") +
              family("requests_forwarded_total", "kind", "unchanged 0 spliced 5 translated 0 none 0") +
              plain("query_arguments_dropped_total 27 requests_discarded_total 6 unconfirmed_requests_total 25 "
                    "partly_written_requests_total 24 untranslated_histograms_total 26 untranslated_series_total 27") +
              family("series_left_out_total", "reason",
                     "label_without_name 0 too_many_labels 0 label_too_long 28 labels_too_long 0 unknown_symbol 0 "
                     "odd_symbol_refs 0") +
              plain("samples_left_out_total 29 samples_received_total 32000 samples_accepted_total 31000 "
                    "samples_refused_total 1000 samples_refused_by_limits_total 990") +
              "seriesgate_limit_samples_refused_total{limit=\"global\",tenant=\"\"} 400\n" +
              "seriesgate_limit_samples_refused_total{limit=\"per-job\",tenant=\"shop\"} 600\n" +
              "seriesgate_limit_samples_would_refuse_total{limit=\"tenant\",tenant=\"shop\"} 30\n" +
              plain("samples_stored_total 30000 samples_failed_total 900 unknown_dropped_total 8 "
                    "histograms_received_total 11 exemplars_received_total 12 metadata_received_total 13 "
                    "received_bytes_total 14 decoded_bytes_total 15 markers_written_total 33 markers_failed_total 34") +
              family("upstream_errors_total", "reason",
                     "dns 1 connection_refused 0 connect_timeout 0 no_route 0 connect_failed 0 connection_lost 4 tls 0 "
                     "invalid_answer 0 timeout 7 busy 0 unauthorized 0 redirected 0") +
              plain("upstream_sent_bytes_total 16 config_reload_requests_total 29 config_reloads_total 28 "
                    "config_last_reload_successful 1 config_last_reload_success_timestamp_seconds 1700000000 "
                    "web_config_last_reload_successful 1 state_saves_total 22 state_save_failures_total 23 state_bytes "
                    "24 state_save_timestamp_seconds 1700000010 state_last_save_successful 1 log_lines_lost_total 0"));
}

TEST_CASE("every family of the process has help and a type, once, and counters end in _total") {
    const auto metrics = std::make_unique<gate_metrics>();
    exposition out;
    write(out, *metrics);
    std::istringstream lines{out.take()};
    std::set<std::string> helped;
    std::set<std::string> typed;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::string hash, keyword, name, rest;
        if (!line.starts_with('#')) continue;
        words >> hash >> keyword >> name >> rest;
        CAPTURE(line);
        CHECK(name.starts_with("seriesgate_"));
        CHECK((keyword == "HELP" ? helped : typed).insert(name).second);
        if (keyword == "TYPE") CHECK((rest == "counter") == name.ends_with("_total"));
    }
    CHECK(helped == typed);
    CHECK(helped.size() == 57);
}

TEST_CASE("the counts of /stats are those of all owners") {
    const gate_counts counts = counted()->counts();
    CHECK(counts.requests.total == 12);
    CHECK(counts.requests.rejected == 21);
    CHECK(counts.requests.upstream_errors == 12);
    CHECK(counts.requests.unconfirmed == 25);
    CHECK(counts.requests.partly_written == 24);
    CHECK(counts.requests.by_status == named_counts{{"204", 9}, {"503", 1}, {"other", 2}});
    CHECK(counts.requests.upstream_by_status == named_counts{{"204", 4}, {"429", 1}});
    CHECK(count_of(counts.requests.rejected_by_reason, "malformed") == 3);
    CHECK(counts.requests.rejected_by_reason.size() == counter_by<reject_reason>::size);
    CHECK(count_of(counts.requests.upstream_errors_by_reason, "timeout") == 7);
    CHECK(counts.requests.upstream_errors_by_reason.size() == counter_by<upstream_error_reason>::size);
    CHECK(counts.samples.received == 32000);
    CHECK(counts.samples.accepted == 31000);
    CHECK(counts.samples.refused == 1000);
    CHECK(counts.samples.refused_by_limits == 990);
    CHECK(counts.samples.stored == 30000);
    CHECK(counts.samples.failed == 900);
    CHECK(counts.dropped.unknown_entries == 8);
    CHECK(counts.dropped.untranslated_series == 27);
    CHECK(counts.samples.left_out == 29);
    CHECK(count_of(counts.dropped.left_out_series, "label_too_long") == 28);
    CHECK(counts.dropped.untranslated_histograms == 26);
    CHECK(counts.connections.open == 19);
    CHECK(counts.connections.accepted == 20);
    CHECK(counts.connections.given_up_by_reason ==
          named_counts{
              {"max_connections", 0}, {"max_connections_per_peer", 27}, {"descriptors", 0}, {"max_handshakes", 0}});
    CHECK(count_of(counts.connections.turned_away_by_reason, "max_connections") == 28);
}

TEST_CASE("the counts of a fleet are those of its claims") {
    shared_config settings;
    settings.name_space = "shop";
    fleet_metrics metrics;
    fleet_shared fleet{settings, {.name = "gate-1", .version = "1.2.3", .fingerprints = "f"}, metrics};
    fleet.view.set_state(store_reach::wrong_clock);
    *fleet.members.lock() = {.all = {{.name = "gate-1", .version = "1.2.3", .silent_seconds = 7}},
                             .as_of = monotonic_clock::now() - 1h};  // the store has been away since
    metrics.claims.add(4);
    metrics.series[store_outcome::known].add(100);
    metrics.series[store_outcome::taken].add(19);
    metrics.series[store_outcome::completed].add(1);
    metrics.series[store_outcome::refused].add(3);
    metrics.series[store_outcome::unknown].add(9);
    metrics.unanswered_series.add(5);
    metrics.alone_series.add(6);
    metrics.losses.add(1);
    metrics.waiting.add(2);
    metrics.untold.set(8);
    CHECK(counts_of(fleet).latency_seconds == 0.0);
    metrics.claim_duration.observe(250ms);
    metrics.claim_duration.observe(750ms);
    const shared_counts counts = counts_of(fleet);
    CHECK(counts.state == "away: clock");
    CHECK(counts.name_space == "shop");
    REQUIRE(counts.gates.size() == 1);
    CHECK(counts.gates[0].name == "gate-1");
    CHECK(counts.gates[0].version == "1.2.3");
    CHECK(counts.gates[0].seen_seconds_ago >= 3607);
    CHECK(counts.gates[0].seen_seconds_ago < 3700);
    CHECK(counts.counts == named_counts{{"claims", 4},
                                        {"known", 100},
                                        {"taken", 20},
                                        {"completed", 1},
                                        {"refused", 3},
                                        {"unanswered", 5},
                                        {"alone", 6},
                                        {"untold", 8},
                                        {"losses", 1},
                                        {"waiting", 2}});
    CHECK(counts.clock_offset_seconds == 0.0);
    CHECK(counts.latency_seconds == 0.5);
}

}  // namespace
}  // namespace seriesgate::testing::gate_metrics_test
