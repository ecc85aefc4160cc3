#include "upstream/shared_store.hpp"

#include <sstream>

#include "base/metrics.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

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
