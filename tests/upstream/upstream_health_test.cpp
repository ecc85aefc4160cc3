#include "upstream/upstream_health.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/core/error.hpp>

#include "base/metrics.hpp"
#include "support/catch.hpp"
#include "support/samples.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate::testing::upstream_health_test {
namespace {

constexpr auto start = upstream_health::clock::time_point{} + 1h;
constexpr auto refused = upstream_error_reason::connection_refused;
constexpr auto timeout = upstream_error_reason::timeout;

/// The requests that a line for this reason is due for.
std::optional<std::uint64_t> rest(upstream_health& health, upstream_error_reason wanted,
                                  upstream_health::clock::time_point now) {
    std::optional<std::uint64_t> found;
    health.rest(
        [&](upstream_error_reason reason, std::uint64_t requests) {
            if (reason == wanted) found = requests;
        },
        now);
    return found;
}

TEST_CASE("requests without an answer are told at once, then every ten seconds, each reason by itself") {
    upstream_health health;
    CHECK(health.failed(refused, start) == 1);
    CHECK(health.failed(timeout, start) == 1);
    CHECK_FALSE(health.failed(refused, start + 9s));
    CHECK(health.failed(refused, start + 10s) == 2);
}

TEST_CASE("those behind the last line are told of without a further one, when it is time") {
    upstream_health health;
    for (int i = 0; i < 7; ++i) health.failed(refused, start);
    CHECK_FALSE(rest(health, refused, start + 19s));
    CHECK(rest(health, refused, start + 20s) == 6);
    CHECK_FALSE(rest(health, timeout, start + 20s));
    CHECK_FALSE(rest(health, refused, start + 1h));
}

TEST_CASE("an outage that only such a line has told of has an end, too") {
    upstream_health health;
    health.failed(refused, start);
    REQUIRE(health.answered(start + 1s));
    CHECK_FALSE(health.failed(refused, start + 2s));
    CHECK(rest(health, refused, start + 20s) == 1);
    const auto ended = health.answered(start + 22s);
    REQUIRE(ended);
    CHECK(ended->lasted == 20s);
    CHECK(ended->requests == 1);
}

TEST_CASE("the end of an outage is told once, with how long it was and what it cost") {
    upstream_health health;
    CHECK_FALSE(health.answered(start));
    health.failed(refused, start);
    health.failed(refused, start + 1s);
    health.failed(timeout, start + 2s);
    const auto ended = health.answered(start + 62'500ms);
    REQUIRE(ended);
    CHECK(ended->lasted == 62'500ms);
    CHECK(ended->requests == 3);
    CHECK_FALSE(health.answered(start + 62'501ms));
}

TEST_CASE("of an outage that nobody was told of no end is told, and the next one begins anew") {
    upstream_health health;
    health.failed(refused, start);
    CHECK(health.answered(start + 1s));
    CHECK_FALSE(health.failed(refused, start + 2s));
    CHECK_FALSE(health.answered(start + 3s));
    CHECK_FALSE(health.failed(refused, start + 9s));
    CHECK(health.failed(refused, start + 12s) == 3);  // with those that were not told of
    const auto ended = health.answered(start + 13s);
    REQUIRE(ended);
    CHECK(ended->lasted == 4s);
    CHECK(ended->requests == 2);
}

TEST_CASE("a name that does not resolve is told at once, then every minute, and that it resolves again once") {
    name_health health;
    CHECK_FALSE(health.looked_up({}, start));
    CHECK(health.fault().empty());
    const auto begun = health.looked_up(net::error::host_not_found, start);
    REQUIRE(begun);
    CHECK_FALSE(begun->resolves);
    CHECK(health.fault() == error_code{net::error::host_not_found}.message());
    CHECK_FALSE(health.looked_up(net::error::host_not_found, start + 59s));
    CHECK(health.looked_up(net::error::host_not_found, start + 60s));
    const auto ended = health.looked_up({}, start + 90s);
    REQUIRE(ended);
    CHECK(ended->resolves);
    CHECK(ended->lasted == 90s);
    CHECK(health.fault().empty());
    CHECK_FALSE(health.looked_up({}, start + 91s));  // the next worker's
}

TEST_CASE("a name that fails again within the minute is told of when it is over, and its end only then") {
    name_health health;
    CHECK(health.looked_up(net::error::host_not_found, start));
    CHECK(health.looked_up({}, start + 1s));
    CHECK_FALSE(health.looked_up(net::error::host_not_found, start + 2s));
    CHECK_FALSE(health.looked_up({}, start + 3s));
    CHECK_FALSE(health.looked_up(net::error::host_not_found, start + 30s));
    CHECK(health.looked_up(net::error::host_not_found, start + 60s));
    const auto ended = health.looked_up({}, start + 61s);
    REQUIRE(ended);
    CHECK(ended->lasted == 31s);
}

TEST_CASE("a connect that fails is told by what the system says") {
    struct row {
        error_code error;
        upstream_error_reason reason;
    };
    const auto [error, reason] = GENERATE(values<row>({
        {net::error::connection_refused, upstream_error_reason::connection_refused},
        {boost::beast::error::timeout, upstream_error_reason::connect_timeout},
        {net::error::timed_out, upstream_error_reason::connect_timeout},
        {net::error::host_unreachable, upstream_error_reason::no_route},
        {net::error::network_unreachable, upstream_error_reason::no_route},
        {net::error::network_down, upstream_error_reason::no_route},
        {net::error::connection_reset, upstream_error_reason::connection_lost},
        {net::error::no_descriptors, upstream_error_reason::connect_failed},
        {net::error::access_denied, upstream_error_reason::connect_failed},
    }));
    CAPTURE(error.message());
    CHECK(name_of(reason_of_connect(error)) == name_of(reason));
}

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
                 "tls 0 invalid_answer 0 timeout 7 busy 0 unauthorized 0 redirected 0") +
              family("upstream_responses_total", "code",
                     "200 0 202 0 204 0 300 0 304 0 305 0 400 3 401 0 402 0 403 0 "
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
    std::istringstream lines{samples_of(out.take())};
    std::string samples;
    for (std::string line; std::getline(lines, line);)
        if (line.find("_errors_") == std::string::npos || line.find("} 0") == std::string::npos) samples += line + '\n';
    const auto doors = [](const char* name, const char* of_first, const char* of_second) {
        return family(name, "store=\"a\",door", of_first) + family(name, "store=\"c\",door", of_second);
    };
    CHECK(samples == doors("upstream_door_up", "a 1 b 0", "c 1") +
                         doors("upstream_door_requests_total", "a 5 b 0", "c 0") +
                         family("upstream_door_errors_total", "store=\"a\",door=\"b\",reason", "dns 2") +
                         doors("upstream_door_in_flight", "a 3 b 0", "c 0") +
                         doors("upstream_door_connections", "a 4 b 0", "c 1") +
                         family("upstream_waits_total", "store", "a 7 c 0") +
                         family("upstream_waiting", "store", "a 0 c 6") + plain("upstream_connections 5"));
}

}  // namespace
}  // namespace seriesgate::testing::upstream_health_test
