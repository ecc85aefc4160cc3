#include "upstream/upstream_health.hpp"

#include <sstream>

#include "base/metrics.hpp"
#include "support/catch.hpp"
#include "support/samples.hpp"
#include "upstream/shared_store.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("what is counted about the upstream is written family by family") {
    upstream_metrics metrics;
    metrics.upstream_errors[upstream_error_reason::timeout].add(7);
    metrics.upstream_responses[400].add(3);
    metrics.upstream_responses[444].add(4);
    metrics.upstream_request_duration.observe(std::chrono::milliseconds{3});
    metrics.upstream_sent_bytes.add(16);
    exposition out;
    write(out, metrics);
    CHECK(samples_of(out.take(), {"_bucket"}) ==
          family("upstream_errors_total", "reason",
                 "dns 0 connection_refused 0 connect_timeout 0 no_route 0 connect_failed 0 connection_lost 0 "
                 "tls 0 invalid_answer 0 timeout 7 busy 0 unauthorized 0") +
              family("upstream_responses_total", "code",
                     "200 0 202 0 204 0 300 0 301 0 302 0 303 0 304 0 305 0 307 0 308 0 400 3 401 0 402 0 403 0 "
                     "404 0 405 0 406 0 407 0 408 0 409 0 410 0 411 0 412 0 413 0 414 0 415 0 416 0 417 0 418 0 "
                     "421 0 422 0 423 0 424 0 425 0 426 0 428 0 429 0 431 0 444 4 451 0 499 0 500 0 501 0 502 0 "
                     "503 0 504 0 507 0 508 0") +
              plain("upstream_request_duration_seconds_sum 0.003 upstream_request_duration_seconds_count 1 "
                    "upstream_sent_bytes_total 16"));
}

TEST_CASE("what is counted about backends is written store by store") {
    upstream_config settings;
    settings.store.backends.resize(2);
    settings.store.backends[0].authority = std::string{"a"};
    settings.store.backends[1].authority = std::string{"b"};
    settings.replicas.resize(1);
    settings.replicas[0].store.backends.resize(1);
    settings.replicas[0].store.backends[0].authority = std::string{"c"};
    upstream_metrics metrics;
    shared_store first{settings, 0, metrics, 1};
    shared_store second{settings, 1, metrics, 1};
    first.backends[1].health.failed({}, {});
    first.backends[0].requests.add(5);
    first.backends[1].errors[upstream_error_reason::dns].add(2);
    first.backends[0].in_flight.add(3);
    first.backends[0].connections.add(4);
    second.backends[0].connections.add(1);
    first.waits.add(7);
    second.waiting.add(6);
    exposition out;
    write_backends(out, {&first, &second});
    std::istringstream lines{out.take()};
    std::string samples;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#') &&
            (line.find("_errors_") == std::string::npos || line.find("} 0") == std::string::npos))
            samples += line + '\n';
    CHECK(samples ==
          "seriesgate_upstream_door_up{store=\"a\",door=\"a\"} 1\n"
          "seriesgate_upstream_door_up{store=\"a\",door=\"b\"} 0\n"
          "seriesgate_upstream_door_up{store=\"c\",door=\"c\"} 1\n"
          "seriesgate_upstream_door_requests_total{store=\"a\",door=\"a\"} 5\n"
          "seriesgate_upstream_door_requests_total{store=\"a\",door=\"b\"} 0\n"
          "seriesgate_upstream_door_requests_total{store=\"c\",door=\"c\"} 0\n"
          "seriesgate_upstream_door_errors_total{store=\"a\",door=\"b\",reason=\"dns\"} 2\n"
          "seriesgate_upstream_door_in_flight{store=\"a\",door=\"a\"} 3\n"
          "seriesgate_upstream_door_in_flight{store=\"a\",door=\"b\"} 0\n"
          "seriesgate_upstream_door_in_flight{store=\"c\",door=\"c\"} 0\n"
          "seriesgate_upstream_door_connections{store=\"a\",door=\"a\"} 4\n"
          "seriesgate_upstream_door_connections{store=\"a\",door=\"b\"} 0\n"
          "seriesgate_upstream_door_connections{store=\"c\",door=\"c\"} 1\n"
          "seriesgate_upstream_waits_total{store=\"a\"} 7\n"
          "seriesgate_upstream_waits_total{store=\"c\"} 0\n"
          "seriesgate_upstream_waiting{store=\"a\"} 0\n"
          "seriesgate_upstream_waiting{store=\"c\"} 6\n"
          "seriesgate_upstream_connections 5\n");
}
