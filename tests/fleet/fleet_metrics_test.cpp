#include "fleet/fleet_metrics.hpp"

#include <sstream>
#include <string>

#include "metrics/exposition.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace {

/// Without comments and buckets.
std::string samples_of(const fleet_metrics& metrics, const fleet_facts& now) {
    exposition out;
    write(out, metrics, now);
    std::istringstream lines{out.take()};
    std::string samples;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#') && line.find("_bucket") == std::string::npos) samples += line + '\n';
    return samples;
}

}  // namespace

TEST_CASE("what is counted about a fleet is written family by family") {
    fleet_metrics metrics;
    metrics.claims.add(9);
    metrics.closed.add(2);
    metrics.no_turn.add(3);
    metrics.failures[redis_error::kind::timeout].add(4);
    metrics.failures[redis_error::kind::out_of_memory].add(5);
    metrics.series[claim_outcome::known].add(100);
    metrics.series[claim_outcome::taken].add(20);
    metrics.series[claim_outcome::refused].add(6);
    metrics.series[claim_outcome::unknown].add(7);
    metrics.unanswered_series.add(8);
    metrics.waiting.add(11);
    metrics.claim_duration.observe(250ms);
    metrics.claim_duration.observe(500ms);
    const fleet_facts now{.state = fleet_state::joined,
                          .name_space = "shop",
                          .clock_offset = -1500ms,
                          .gates = {{.name = "a", .version = "1"}, {.name = "b", .version = "1"}}};
    CHECK(samples_of(metrics, now) ==
          "seriesgate_shared_up 1\n"
          "seriesgate_shared_state{state=\"joining\"} 0\n"
          "seriesgate_shared_state{state=\"joined\"} 1\n"
          "seriesgate_shared_state{state=\"away\"} 0\n"
          "seriesgate_shared_gates 2\n"
          "seriesgate_shared_clock_offset_seconds -1.5\n"
          "seriesgate_shared_claims_total 9\n"
          "seriesgate_shared_claim_failures_total{reason=\"unreachable\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"timeout\"} 4\n"
          "seriesgate_shared_claim_failures_total{reason=\"protocol\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"busy\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"read_only\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"out_of_memory\"} 5\n"
          "seriesgate_shared_claim_failures_total{reason=\"denied\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"other\"} 0\n"
          "seriesgate_shared_claim_failures_total{reason=\"no_turn\"} 3\n"
          "seriesgate_shared_claim_failures_total{reason=\"closed\"} 2\n"
          "seriesgate_shared_claim_duration_seconds_sum 0.75\n"
          "seriesgate_shared_claim_duration_seconds_count 2\n"
          "seriesgate_shared_claimed_series_total{outcome=\"known\"} 100\n"
          "seriesgate_shared_claimed_series_total{outcome=\"taken\"} 20\n"
          "seriesgate_shared_claimed_series_total{outcome=\"refused\"} 6\n"
          "seriesgate_shared_claimed_series_total{outcome=\"unknown\"} 7\n"
          "seriesgate_shared_unanswered_series_total{answer=\"refused\"} 8\n"
          "seriesgate_shared_unanswered_series_total{answer=\"admitted\"} 0\n"
          "seriesgate_shared_asks_waiting 11\n");
}

TEST_CASE("a gate that cannot ask is not up, and says what newcomers get") {
    fleet_metrics metrics;
    metrics.unanswered_series.add(8);
    const std::string away = samples_of(metrics, {.state = fleet_state::away, .admits = true});
    CHECK(away.find("seriesgate_shared_up 0\n") != std::string::npos);
    CHECK(away.find("seriesgate_shared_state{state=\"away\"} 1\n") != std::string::npos);
    CHECK(away.find("{answer=\"refused\"} 0\n") != std::string::npos);
    CHECK(away.find("{answer=\"admitted\"} 8\n") != std::string::npos);
    CHECK(samples_of(metrics, {}).find("seriesgate_shared_state{state=\"joining\"} 1\n") != std::string::npos);
}

TEST_CASE("every family of a fleet has help and a type, once, and counters end in _total") {
    exposition out;
    write(out, fleet_metrics{}, {});
    std::istringstream lines{out.take()};
    std::size_t families = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::string hash, keyword, name, type;
        words >> hash >> keyword >> name >> type;
        if (hash != "#") continue;
        CAPTURE(line);
        CHECK(name.starts_with("seriesgate_shared_"));
        if (keyword == "TYPE") CHECK((type == "counter") == name.ends_with("_total"));
        families += keyword == "TYPE" ? 1 : 0;
    }
    CHECK(families == 10);
}
