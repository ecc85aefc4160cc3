#include "metrics/exposition.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace {

// The text of one family with one sample, without its two comment lines.
template <typename Number>
std::string line_of(metric_labels labels, Number value) {
    exposition out;
    out.family("x", "h", metric_type::gauge);
    out.sample(labels, value);
    return out.take().substr(std::string_view{"# HELP x h\n# TYPE x gauge\n"}.size());
}

}  // namespace

TEST_CASE("a family is written with help, type and its samples") {
    exposition out;
    out.family("seriesgate_series_current", "Series admitted.", metric_type::gauge);
    out.sample({{"window", "hourly"}}, 7u);
    out.sample({{"window", "daily"}}, 31817u);
    out.family("a_total", "Other.", metric_type::counter);
    out.sample({}, 1u);
    CHECK(out.take() ==
          "# HELP seriesgate_series_current Series admitted.\n"
          "# TYPE seriesgate_series_current gauge\n"
          "seriesgate_series_current{window=\"hourly\"} 7\n"
          "seriesgate_series_current{window=\"daily\"} 31817\n"
          "# HELP a_total Other.\n"
          "# TYPE a_total counter\n"
          "a_total 1\n");
}

TEST_CASE("integers are written exactly, beyond what a double holds") {
    CHECK(line_of({}, 0) == "x 0\n");
    CHECK(line_of({}, -7) == "x -7\n");
    CHECK(line_of({}, 9'007'199'254'740'993ull) == "x 9007199254740993\n");
    CHECK(line_of({}, std::numeric_limits<std::uint64_t>::max()) == "x 18446744073709551615\n");
    CHECK(line_of({}, std::numeric_limits<std::int64_t>::min()) == "x -9223372036854775808\n");
}

TEST_CASE("doubles are written as the shortest decimal that reads back the same") {
    CHECK(line_of({}, 0.0) == "x 0\n");
    CHECK(line_of({}, 3.0) == "x 3\n");
    CHECK(line_of({}, 0.1) == "x 0.1\n");
    CHECK(line_of({}, 0.0001) == "x 0.0001\n");
    CHECK(line_of({}, -2.5) == "x -2.5\n");
    CHECK(line_of({}, 1795246742.73) == "x 1795246742.73\n");
    CHECK(line_of({}, 1e300) == "x 1e+300\n");
    CHECK(line_of({}, 5e-324) == "x 5e-324\n");
    CHECK(line_of({}, std::numeric_limits<double>::infinity()) == "x +Inf\n");
    CHECK(line_of({}, -std::numeric_limits<double>::infinity()) == "x -Inf\n");
    CHECK(line_of({}, std::numeric_limits<double>::quiet_NaN()) == "x NaN\n");
    for (const double value : {0.1 + 0.2, 1.0 / 3, 123456.789e-7, 4.9e17, 8.5e21}) {
        const std::string line = line_of({}, value);
        CHECK(std::stod(line.substr(2)) == value);
    }
}

TEST_CASE("label values and help are escaped so that they stay on their line") {
    CHECK(line_of({{"a", "quote \" backslash \\ newline \n end"}}, 1) ==
          "x{a=\"quote \\\" backslash \\\\ newline \\n end\"} 1\n");
    CHECK(line_of({{"a", ""}, {"b", "\xc3\xa4"}}, 1) == "x{a=\"\",b=\"\xc3\xa4\"} 1\n");
    exposition out;
    out.family("x", "back\\slash \"quoted\"\nline", metric_type::counter);
    CHECK(out.text() == "# HELP x back\\\\slash \"quoted\"\\nline\n# TYPE x counter\n");
}

TEST_CASE("a histogram is written with cumulative buckets, sum and count in seconds") {
    duration_histogram histogram;
    histogram.observe(3ms);
    histogram.observe(250ms);
    histogram.observe(40s);
    exposition out;
    out.family("d_seconds", "h", metric_type::histogram);
    out.sample({{"path", "/w"}}, histogram.read());
    CHECK(out.take() ==
          "# HELP d_seconds h\n"
          "# TYPE d_seconds histogram\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.0005\"} 0\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.001\"} 0\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.0025\"} 0\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.005\"} 1\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.01\"} 1\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.025\"} 1\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.05\"} 1\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.1\"} 1\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.25\"} 2\n"
          "d_seconds_bucket{path=\"/w\",le=\"0.5\"} 2\n"
          "d_seconds_bucket{path=\"/w\",le=\"1\"} 2\n"
          "d_seconds_bucket{path=\"/w\",le=\"2.5\"} 2\n"
          "d_seconds_bucket{path=\"/w\",le=\"5\"} 2\n"
          "d_seconds_bucket{path=\"/w\",le=\"10\"} 2\n"
          "d_seconds_bucket{path=\"/w\",le=\"30\"} 2\n"
          "d_seconds_bucket{path=\"/w\",le=\"+Inf\"} 3\n"
          "d_seconds_sum{path=\"/w\"} 40.253\n"
          "d_seconds_count{path=\"/w\"} 3\n");
}

TEST_CASE("the metrics of the process are written family by family") {
    const auto metrics = std::make_unique<gate_metrics>();
    metrics->requests[204].add(9);
    metrics->requests[503].add(1);
    metrics->requests[0].add(2);
    metrics->requests_rejected[reject_reason::malformed].add(3);
    metrics->requests_forwarded[forward_kind::spliced].add(5);
    metrics->requests_discarded.add(6);
    metrics->query_arguments_dropped.add(27);
    metrics->reload_requests.add(29);
    metrics->reloads.add(28);
    metrics->unconfirmed_requests.add(25);
    metrics->untranslated_histograms.add(26);
    metrics->untranslated_series.add(27);
    metrics->samples_received.add(32000);
    metrics->samples_accepted.add(31000);
    metrics->samples_refused.add(1000);
    metrics->samples_stored.add(30000);
    metrics->samples_failed.add(900);
    metrics->unknown_dropped.add(8);
    metrics->histograms_received.add(11);
    metrics->exemplars_received.add(12);
    metrics->metadata_received.add(13);
    metrics->received_bytes.add(14);
    metrics->decoded_bytes.add(15);
    metrics->inflight_requests.add(17);
    metrics->inflight_bytes.add(18);
    metrics->connections.add(19);
    metrics->connections_accepted.add(20);
    metrics->connections_given_up[connection_bound::per_peer].add(27);
    metrics->connections_turned_away[connection_bound::total].add(28);
    metrics->reload_successful.set(1);
    metrics->reload_success_seconds.set(1'700'000'000);
    metrics->state_saves.add(22);
    metrics->state_save_failures.add(23);
    metrics->state_bytes.set(24);
    metrics->state_save_seconds.set(1'700'000'010);
    exposition out;
    write(out, *metrics);
    std::istringstream lines{out.take()};
    std::string samples;  // without comments and histograms, which have tests of their own
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('#') && line.find("_duration_seconds") == std::string::npos) samples += line + '\n';
    }
    CHECK(samples ==
          "seriesgate_requests_total{code=\"204\"} 9\n"
          "seriesgate_requests_total{code=\"503\"} 1\n"
          "seriesgate_requests_total{code=\"other\"} 2\n"
          "seriesgate_requests_rejected_total{reason=\"malformed\"} 3\n"
          "seriesgate_requests_rejected_total{reason=\"too_large\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"unsupported_media\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"method_not_allowed\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"unknown_path\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"timeout\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"overloaded\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"refused\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"untranslated\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"loop\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"bad_argument\"} 0\n"
          "seriesgate_requests_rejected_total{reason=\"pages_held\"} 0\n"
          "seriesgate_requests_forwarded_total{kind=\"unchanged\"} 0\n"
          "seriesgate_requests_forwarded_total{kind=\"spliced\"} 5\n"
          "seriesgate_requests_forwarded_total{kind=\"translated\"} 0\n"
          "seriesgate_requests_forwarded_total{kind=\"none\"} 0\n"
          "seriesgate_query_arguments_dropped_total 27\n"
          "seriesgate_requests_discarded_total 6\n"
          "seriesgate_unconfirmed_requests_total 25\n"
          "seriesgate_untranslated_histograms_total 26\n"
          "seriesgate_untranslated_series_total 27\n"
          "seriesgate_samples_received_total 32000\n"
          "seriesgate_samples_accepted_total 31000\n"
          "seriesgate_samples_refused_total 1000\n"
          "seriesgate_samples_stored_total 30000\n"
          "seriesgate_samples_failed_total 900\n"
          "seriesgate_unknown_dropped_total 8\n"
          "seriesgate_histograms_received_total 11\n"
          "seriesgate_exemplars_received_total 12\n"
          "seriesgate_metadata_received_total 13\n"
          "seriesgate_received_bytes_total 14\n"
          "seriesgate_decoded_bytes_total 15\n"
          "seriesgate_inflight_requests 17\n"
          "seriesgate_inflight_bytes 18\n"
          "seriesgate_connections 19\n"
          "seriesgate_connections_accepted_total 20\n"
          "seriesgate_connections_given_up_total{reason=\"max_connections\"} 0\n"
          "seriesgate_connections_given_up_total{reason=\"max_connections_per_peer\"} 27\n"
          "seriesgate_connections_given_up_total{reason=\"descriptors\"} 0\n"
          "seriesgate_connections_turned_away_total{reason=\"max_connections\"} 28\n"
          "seriesgate_connections_turned_away_total{reason=\"max_connections_per_peer\"} 0\n"
          "seriesgate_connections_turned_away_total{reason=\"descriptors\"} 0\n"
          "seriesgate_config_reload_requests_total 29\n"
          "seriesgate_config_reloads_total 28\n"
          "seriesgate_config_last_reload_successful 1\n"
          "seriesgate_config_last_reload_success_timestamp_seconds 1700000000\n"
          "seriesgate_state_saves_total 22\n"
          "seriesgate_state_save_failures_total 23\n"
          "seriesgate_state_bytes 24\n"
          "seriesgate_state_save_timestamp_seconds 1700000010\n");
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
    CHECK(helped.size() == 34);
}
