#include "http/connections.hpp"

#include <sys/resource.h>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

constexpr descriptor_use others_with(std::size_t workers) {
    return {.workers = workers, .idle_upstream_max = 256};
}

}  // namespace

TEST_CASE("connections are no more than there are descriptors for") {
    CHECK(connections_that_fit(0, others_with(4)) == 8);
    CHECK(connections_that_fit(48, others_with(1)) == 8);
    CHECK(connections_that_fit(1'048'576, others_with(16)) > 8192);
    std::size_t before = 0;
    for (std::uint64_t descriptors = 256; descriptors < 2'000'000; descriptors *= 2) {
        const std::size_t fit = connections_that_fit(descriptors, others_with(4));
        CHECK(fit > before);
        CHECK(2 * fit < descriptors);
        before = fit;
    }
    CHECK(connections_that_fit(4096, others_with(64)) < connections_that_fit(4096, others_with(4)));
}

TEST_CASE("what fits leaves a descriptor for every connection to the upstream and for those that nobody uses") {
    constexpr std::uint64_t descriptors = 10'000;
    const std::size_t none_idle = connections_that_fit(descriptors, {.workers = 4, .idle_upstream_max = 0});
    const std::size_t some_idle = connections_that_fit(descriptors, {.workers = 4, .idle_upstream_max = 100});
    CHECK(connection_registry::open_max(none_idle) + none_idle < descriptors);
    CHECK(connection_registry::open_max(some_idle) + some_idle + 400 < descriptors);
    CHECK(some_idle < none_idle);
    // One more would not fit.
    CHECK(connection_registry::open_max(some_idle + 1) + some_idle + 1 + 400 + 64 + 16 * 6 > descriptors);
}

TEST_CASE("connections to the upstream take no more than their own bound, and all of that with replicas") {
    constexpr std::uint64_t descriptors = 10'000;
    const auto fit = [](std::size_t upstream_max, bool has_replicas) {
        return connections_that_fit(
            descriptors,
            {.workers = 4, .idle_upstream_max = 100, .upstream_max = upstream_max, .has_replicas = has_replicas});
    };
    const std::size_t unbounded = connections_that_fit(descriptors, {.workers = 4, .idle_upstream_max = 100});
    CHECK(fit(1000, false) > unbounded);
    CHECK(fit(1000, false) == fit(1000, true));
    CHECK(fit(9'000, false) == unbounded);
    CHECK(fit(9'000, true) < unbounded);
}

TEST_CASE("a listener for people takes its share") {
    constexpr std::uint64_t descriptors = 10'000;
    const std::size_t without = connections_that_fit(descriptors, others_with(4));
    const std::size_t with =
        connections_that_fit(descriptors, {.workers = 4, .idle_upstream_max = 256, .admin_connections = 64});
    const std::size_t given =
        connection_registry::open_max(without) + without - connection_registry::open_max(with) - with;
    CHECK(given + 3 >= connection_registry::open_max(64));  // a sender's connection takes more than two
    CHECK(given <= connection_registry::open_max(64) + 3);
}

TEST_CASE("the soft limit of descriptors is raised to the hard one") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit low = before;
    low.rlim_cur = 200;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    CHECK(descriptor_limit() == 200);
    CHECK(raise_descriptor_limit() == before.rlim_max);
    CHECK(descriptor_limit() == before.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &before);
}
