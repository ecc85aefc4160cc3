#include "upstream/upstream_metrics.hpp"

#include <sstream>
#include <string>

#include "metrics/exposition.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("what is counted about the upstream is written family by family") {
    upstream_metrics metrics;
    metrics.upstream_errors[upstream_error_reason::timeout].add(7);
    metrics.upstream_request_duration.observe(std::chrono::milliseconds{3});
    metrics.upstream_sent_bytes.add(16);
    metrics.upstream_connections.add(21);
    exposition out;
    write(out, metrics);
    std::istringstream lines{out.take()};
    std::string samples;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('#') && line.find("_bucket") == std::string::npos) samples += line + '\n';
    }
    CHECK(samples ==
          "seriesgate_upstream_errors_total{reason=\"unreachable\"} 0\n"
          "seriesgate_upstream_errors_total{reason=\"timeout\"} 7\n"
          "seriesgate_upstream_errors_total{reason=\"broken\"} 0\n"
          "seriesgate_upstream_request_duration_seconds_sum 0.003\n"
          "seriesgate_upstream_request_duration_seconds_count 1\n"
          "seriesgate_upstream_sent_bytes_total 16\n"
          "seriesgate_upstream_connections 21\n");
}
