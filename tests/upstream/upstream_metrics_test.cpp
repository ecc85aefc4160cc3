#include "upstream/upstream_health.hpp"

#include <sstream>

#include "base/metrics.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("what is counted about the upstream is written family by family") {
    upstream_metrics metrics;
    metrics.upstream_errors[upstream_error_reason::timeout].add(7);
    metrics.upstream_responses[400].add(3);
    metrics.upstream_responses[444].add(4);
    metrics.upstream_request_duration.observe(std::chrono::milliseconds{3});
    metrics.upstream_sent_bytes.add(16);
    exposition out;
    write(out, metrics);
    std::istringstream lines{out.take()};
    std::string samples;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('#') && line.find("_bucket") == std::string::npos) samples += line + '\n';
    }
    CHECK(samples ==
          "seriesgate_upstream_errors_total{reason=\"dns\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"connection_refused\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"connect_timeout\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"no_route\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"connect_failed\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"connection_lost\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"tls\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"invalid_answer\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"timeout\"} 7\n"
          "seriesgate_upstream_errors_total{reason=\"busy\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"unauthorized\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"200\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"202\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"204\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"300\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"301\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"302\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"303\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"304\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"305\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"307\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"308\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"400\"} 3\n"
          "seriesgate_upstream_responses_total{code=\"401\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"402\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"403\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"404\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"405\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"406\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"407\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"408\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"409\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"410\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"411\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"412\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"413\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"414\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"415\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"416\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"417\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"418\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"421\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"422\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"423\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"424\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"425\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"426\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"428\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"429\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"431\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"444\"} 4\n"
          "seriesgate_upstream_responses_total{code=\"451\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"499\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"500\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"501\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"502\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"503\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"504\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"507\"} 0\n"
          "seriesgate_upstream_responses_total{code=\"508\"} 0\n"
          "seriesgate_upstream_request_duration_seconds_sum 0.003\n"
          "seriesgate_upstream_request_duration_seconds_count 1\n"
          "seriesgate_upstream_sent_bytes_total 16\n");
}
