#include "upstream/store_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <deque>
#include <exception>
#include <memory>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace backend_places_test {
namespace {

using clock = std::chrono::steady_clock;

/// One worker's places at two backends, one at each.
struct scene {
    upstream_config settings = of_two_backends();
    upstream_metrics metrics;
    shared_store shared{settings, 0, metrics, 1};
    net::io_context io{1};
    std::shared_ptr<backend_slots> places = std::make_shared<backend_slots>(io, shared);
    const tried_backends none{};

    static upstream_config of_two_backends() {
        upstream_config made;
        made.store.backends = {{.host = "127.0.0.1", .authority = "a"}, {.host = "127.0.0.1", .authority = "b"}};
        made.timeout = 1h;
        made.connections_max = 2;
        return made;
    }
    circuit_breaker& health(std::size_t backend) { return shared.backends[backend].health; }
    void come_to_trial(std::size_t backend) {
        health(backend).failed(clock::now(), clock::now());
        health(backend).accepts(clock::now());
        REQUIRE(health(backend).has_trial(clock::now()));
    }
    std::optional<backend_slot> take(clock::duration left = 1h) { return places->take(none, clock::now() + left); }

    /// Somebody who waits in line.
    struct guest {
        std::optional<backend_slot> got;
        bool waits = true;
    };
    void wait(guest& one, clock::duration left) {
        net::co_spawn(io, places->wait(none, clock::now() + left),
                      [&one](const std::exception_ptr& failure, std::optional<backend_slot> place) {
                          REQUIRE_FALSE(failure);
                          one.waits = false;
                          if (place) one.got.emplace(std::move(*place));
                      });
        io.poll();
    }
    void let_in() {
        places->let_in();
        io.poll();
    }
};

}  // namespace

TEST_CASE("one request is the trial, and only if it has the time for an answer") {
    scene with;
    with.come_to_trial(1);
    const auto late = with.take(29min);
    REQUIRE(late);
    CHECK(late->index() == 0);
    CHECK(with.health(1).has_trial(clock::now()));
    const auto early = with.take();
    REQUIRE(early);
    CHECK(early->index() == 1);
    CHECK_FALSE(with.health(1).has_trial(clock::now()));
    CHECK_FALSE(with.take());
}

TEST_CASE("while one request is the trial the others go elsewhere") {
    scene with;
    with.come_to_trial(0);
    const auto trial = with.take();
    REQUIRE(trial);
    CHECK(trial->index() == 0);
    const auto other = with.take();
    REQUIRE(other);
    CHECK(other->index() == 1);
}

TEST_CASE("who has taken the trial and never comes to a result is not waited for longer than it may take") {
    scene with;
    with.come_to_trial(0);
    REQUIRE(with.take(40min));
    CHECK_FALSE(with.health(0).has_trial(clock::now() + 40min));
    CHECK(with.health(0).has_trial(clock::now() + 41min));
}

TEST_CASE("when all who wait have little time left, who came last is the trial") {
    scene with;
    with.health(1).failed(clock::now(), clock::now());
    const auto held = with.take();
    REQUIRE(held);
    std::deque<scene::guest> line(3);
    with.wait(line[0], 10min);
    with.wait(line[1], 20min);
    with.wait(line[2], 50min);
    REQUIRE(with.places->waiting_count() == 3);
    with.let_in();
    CHECK(with.places->waiting_count() == 3);
    with.health(1).accepts(clock::now());
    with.let_in();
    CHECK(line[0].waits);
    CHECK(line[1].waits);
    REQUIRE(line[2].got);
    CHECK(line[2].got->index() == 1);
    with.let_in();
    CHECK(with.places->waiting_count() == 2);
}

TEST_CASE("a backend that has just come back takes those that the others have no room for") {
    scene with;
    with.come_to_trial(1);
    REQUIRE(with.health(1).answered(204, clock::now(), clock::now()));
    REQUIRE(with.health(1).share(clock::now()) < 0.1);
    const auto first = with.take();
    const auto second = with.take();
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first->index() == 0);
    CHECK(second->index() == 1);
}

}  // namespace backend_places_test
