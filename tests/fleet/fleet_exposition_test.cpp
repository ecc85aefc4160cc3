#include <sstream>

#include "base/metrics.hpp"
#include "fleet/fleet_shared.hpp"
#include "support/catch.hpp"
#include "support/samples.hpp"

namespace seriesgate::testing::fleet_exposition_test {
namespace {

/// A gate in a fleet that nobody has asked anything.
struct scene {
    shared_config settings;
    fleet_metrics metrics;
    fleet_shared fleet{settings, {"a", "1", "f"}, metrics};

    std::string text() {
        exposition out;
        write(out, fleet);
        return out.take();
    }
    /// Without comments and buckets.
    std::string samples() { return samples_of(text(), {"_bucket"}); }
};

TEST_CASE("what is counted about a fleet is written family by family", "[fleet]") {
    scene at;
    at.fleet.view.set_state(store_reach::joined);
    at.fleet.members.lock()->all = {{.name = "a", .version = "1"}, {.name = "b", .version = "1"}};
    at.metrics.claims.add(9);
    at.metrics.series[store_outcome::known].add(100);
    at.metrics.series[store_outcome::taken].add(20);
    at.metrics.series[store_outcome::completed].add(5);
    at.metrics.series[store_outcome::refused].add(6);
    at.metrics.series[store_outcome::waits].add(4);
    at.metrics.series[store_outcome::unknown].add(7);
    at.metrics.unanswered_series.add(8);
    at.metrics.alone_series.add(10);
    at.metrics.failures[redis_error::kind::timeout].add(4);
    at.metrics.failures[redis_error::kind::out_of_memory].add(5);
    at.metrics.other_epoch.add(19);
    at.metrics.no_turn.add(3);
    at.metrics.closed.add(2);
    at.metrics.waiting.add(11);
    at.metrics.claim_duration.observe(250ms);
    at.metrics.claim_duration.observe(500ms);
    at.metrics.losses.add(20);
    at.metrics.untold.set(18);
    at.metrics.told[store_outcome::known].add(15);
    at.metrics.told[store_outcome::taken].add(16);
    at.metrics.downloads[download_result::complete].add(21);
    at.metrics.downloads[download_result::overtaken].add(22);
    at.metrics.downloads[download_result::failed].add(23);
    at.metrics.downloaded_series.add(24);
    at.fleet.view.set_fresh_until(monotonic_clock::now() + 60s);
    at.metrics.fed_series.add(26);
    at.metrics.feed_gaps.add(28);
    at.metrics.unasked_series.add(25);
    at.fleet.store.metrics.connections.add(12);
    at.fleet.store.metrics.connect_failures.add(13);
    at.fleet.store.metrics.late_replies.add(14);
    CHECK(at.samples() ==
          "seriesgate_shared_up 1\n"
          "seriesgate_shared_state{state=\"joining\"} 0\n"
          "seriesgate_shared_state{state=\"joined\"} 1\n"
          "seriesgate_shared_state{state=\"refilling\"} 0\n"
          "seriesgate_shared_state{state=\"away\"} 0\n"
          "seriesgate_shared_state{state=\"away: clock\"} 0\n"
          "seriesgate_shared_gates 2\n"
          "seriesgate_shared_clock_offset_seconds 0\n"
          "seriesgate_shared_claims_total 9\n"
          "seriesgate_shared_claimed_series_total{outcome=\"known\"} 100\n"
          "seriesgate_shared_claimed_series_total{outcome=\"taken\"} 20\n"
          "seriesgate_shared_claimed_series_total{outcome=\"completed\"} 5\n"
          "seriesgate_shared_claimed_series_total{outcome=\"refused\"} 6\n"
          "seriesgate_shared_claimed_series_total{outcome=\"waits\"} 4\n"
          "seriesgate_shared_claimed_series_total{outcome=\"unknown\"} 7\n"
          "seriesgate_shared_unanswered_series_total 8\n"
          "seriesgate_shared_alone_series_total 10\n"
          "seriesgate_shared_claim_failures_total{reason=\"unreachable\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"timeout\"} 4\n"
          "seriesgate_shared_claim_failures_total{reason=\"protocol\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"busy\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"read_only\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"out_of_memory\"} 5\n"
          "seriesgate_shared_claim_failures_total{reason=\"denied\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"other\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"lost_data\"} 19\n"
          "seriesgate_shared_claim_failures_total{reason=\"no_turn\"} 3\n"
          "seriesgate_shared_claims_closed_total 2\n"
          "seriesgate_shared_claims_waiting 11\n"
          "seriesgate_shared_claim_duration_seconds_sum 0.75\n"
          "seriesgate_shared_claim_duration_seconds_count 2\n"
          "seriesgate_shared_losses_total 20\n"
          "seriesgate_shared_untold_series 18\n"
          "seriesgate_shared_told_series_total{outcome=\"known\"} 15\n"
          "seriesgate_shared_told_series_total{outcome=\"taken\"} 16\n"
          "seriesgate_shared_downloads_total{result=\"complete\"} 21\n"
          "seriesgate_shared_downloads_total{result=\"overtaken\"} 22\n"
          "seriesgate_shared_downloads_total{result=\"failed\"} 23\n"
          "seriesgate_shared_downloaded_series_total 24\n"
          "seriesgate_shared_feed_up 1\n"
          "seriesgate_shared_fed_series_total 26\n"
          "seriesgate_shared_feed_gaps_total 28\n"
          "seriesgate_shared_unasked_series_total 25\n"
          "seriesgate_shared_connections_total 12\n"
          "seriesgate_shared_connect_failures_total 13\n"
          "seriesgate_shared_late_replies_total 14\n");
}

TEST_CASE("a gate that cannot ask is not up", "[fleet]") {
    scene at;
    CHECK(at.samples().starts_with("seriesgate_shared_up 0\nseriesgate_shared_state{state=\"joining\"} 1\n"));
    for (const store_reach state : {store_reach::refilling, store_reach::away, store_reach::wrong_clock}) {
        at.fleet.view.set_state(state);
        const std::string samples = at.samples();
        CHECK(samples.starts_with("seriesgate_shared_up 0\n"));
        CHECK(samples.find("{state=\"" + std::string{name_of(state)} + "\"} 1\n") != samples.npos);
    }
}

TEST_CASE("every family of a fleet has help and a type, once, and counters end in _total", "[fleet]") {
    scene at;
    std::istringstream lines{at.text()};
    std::set<std::string> helped;
    std::set<std::string> typed;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('#')) continue;
        std::istringstream words{line};
        std::string hash, keyword, name, type;
        words >> hash >> keyword >> name >> type;
        CAPTURE(line);
        CHECK(name.starts_with("seriesgate_shared_"));
        CHECK((keyword == "HELP" ? helped : typed).insert(name).second);
        if (keyword == "TYPE") CHECK((type == "counter") == name.ends_with("_total"));
    }
    CHECK(helped == typed);
    CHECK(helped.size() == 24);
}

}  // namespace
}  // namespace seriesgate::testing::fleet_exposition_test
