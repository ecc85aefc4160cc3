#include "upstream/load_balancing.hpp"

#include <boost/asio/co_spawn.hpp>
#include <deque>
#include <exception>

#include "support/catch.hpp"

namespace seriesgate::testing::load_balancing_test {
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
    void serve_queue() {
        places->serve_queue();
        io.poll();
    }
};

std::optional<std::size_t> index_of(const std::optional<backend_slot>& taken) {
    return taken ? std::optional{taken->index()} : std::nullopt;
}

constexpr auto out = backend_state::ejected;
constexpr auto turning_away = backend_state::overloaded;

/// How often each backend is chosen in so many turns.
std::vector<int> chosen_in(const std::vector<backend_view>& backends, std::uint64_t turns) {
    std::vector<int> counts(backends.size());
    for (std::uint64_t turn = 0; turn < turns; ++turn)
        if (const auto at = choose_backend(backends, turn)) ++counts[*at];
    return counts;
}

circuit_breaker::clock::time_point at(std::chrono::seconds time) {
    return circuit_breaker::clock::time_point{time};
}

TEST_CASE("one request is the trial, and only if it has the time for an answer") {
    scene with;
    with.come_to_trial(1);
    const auto late = with.take(29min);
    CHECK(index_of(late) == 0);
    CHECK(with.health(1).has_trial(clock::now()));
    const auto early = with.take();
    CHECK(index_of(early) == 1);
    CHECK_FALSE(with.health(1).has_trial(clock::now()));
    CHECK_FALSE(with.take());
}

TEST_CASE("while one request is the trial the others go elsewhere") {
    scene with;
    with.come_to_trial(0);
    const auto trial = with.take();
    CHECK(index_of(trial) == 0);
    const auto other = with.take();
    CHECK(index_of(other) == 1);
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
    with.serve_queue();
    CHECK(with.places->waiting_count() == 3);
    with.health(1).accepts(clock::now());
    with.serve_queue();
    CHECK(line[0].waits);
    CHECK(line[1].waits);
    CHECK(index_of(line[2].got) == 1);
    with.serve_queue();
    CHECK(with.places->waiting_count() == 2);
}

TEST_CASE("a backend that has just come back takes those that the others have no room for") {
    scene with;
    with.come_to_trial(1);
    REQUIRE(with.health(1).answered(204, clock::now(), clock::now()));
    REQUIRE(with.health(1).share(clock::now()) < 0.1);
    const auto first = with.take();
    const auto second = with.take();
    CHECK(index_of(first) == 0);
    CHECK(index_of(second) == 1);
}

TEST_CASE("the backend with the fewest requests in flight is chosen, and equal ones in turn") {
    CHECK(chosen_in({{}, {}, {}}, 30) == std::vector{10, 10, 10});
    CHECK(chosen_in({{.in_flight = 2}, {.in_flight = 1}, {.in_flight = 2}}, 3) == std::vector{0, 3, 0});
    CHECK(chosen_in({{.in_flight = 1}, {.in_flight = 3}, {.in_flight = 1}}, 6) == std::vector{2, 0, 4});
}

TEST_CASE("a backend that has just come back takes part in as many rounds as its share says") {
    CHECK(chosen_in({{}, {.share = 0}}, 40) == std::vector{40, 0});
    CHECK(chosen_in({{}, {.share = 0.2}}, 40) == std::vector{36, 4});
    CHECK(chosen_in({{}, {.share = 0.6}}, 40) == std::vector{28, 12});
    CHECK(chosen_in({{.share = 0}, {.share = 0}}, 4) == std::vector{2, 2});
    CHECK(chosen_in({{.state = out}, {.share = 0}}, 4) == std::vector{0, 4});
}

TEST_CASE("a trial goes before all others") {
    CHECK(chosen_in({{}, {.state = backend_state::half_open, .has_trial = true}}, 4) == std::vector{0, 4});
    CHECK(chosen_in({{}, {.state = backend_state::half_open}}, 4) == std::vector{4, 0});
    CHECK(chosen_in({{}, {.state = turning_away, .has_trial = true}}, 4) == std::vector{0, 4});
}

TEST_CASE("who turns away comes before who is out, and behind who is well") {
    CHECK(chosen_in({{}, {.state = turning_away}, {.state = out}}, 6) == std::vector{6, 0, 0});
    CHECK(chosen_in({{.state = out}, {.state = turning_away}}, 6) == std::vector{0, 6});
    CHECK(chosen_in({{.state = turning_away, .in_flight = 5}, {.state = turning_away}}, 6) == std::vector{0, 6});
}

TEST_CASE("if all are out, the one that is tried again soonest is chosen") {
    const std::vector<backend_view> backends{
        {.state = out, .due = at(9s)}, {.state = out, .due = at(7s)}, {.state = out, .due = at(8s)}};
    CHECK(chosen_in(backends, 6) == std::vector{0, 6, 0});
}

TEST_CASE("what was tried is not chosen again") {
    CHECK(chosen_in({{.tried = true}, {.state = out}}, 4) == std::vector{0, 4});
    CHECK(chosen_in({{.tried = true}, {.tried = true}}, 4) == std::vector{0, 0});
}

TEST_CASE("nobody waits for a backend on trial, or one that turns away, while another is well") {
    CHECK(chosen_in({{}, {.state = backend_state::half_open, .has_trial = true, .has_room = false}}, 4) ==
          std::vector{4, 0});
    CHECK(chosen_in({{}, {.state = turning_away, .has_trial = true, .has_room = false}}, 4) == std::vector{4, 0});
    CHECK(chosen_in({{.state = backend_state::half_open, .has_trial = true, .has_room = false}, {.state = out}}, 4) ==
          std::vector{0, 4});
}

TEST_CASE("a backend that has just come back stands in for those that are full") {
    CHECK(chosen_in({{.has_room = false}, {.share = 0}}, 4) == std::vector{0, 4});
    CHECK(chosen_in({{.has_room = false}, {.share = 0}, {}}, 4) == std::vector{0, 0, 4});
    CHECK(chosen_in({{.has_room = false}, {.share = 0, .has_room = false}, {.state = out}}, 4) == std::vector{0, 0, 0});
}

TEST_CASE("without room among the best nobody is chosen") {
    CHECK(chosen_in({{.in_flight = 9}, {.has_room = false}}, 4) == std::vector{4, 0});
    CHECK(chosen_in({{.has_room = false}, {.state = turning_away}, {.state = out}}, 6) == std::vector{0, 0, 0});
    CHECK(chosen_in({}, 1).empty());
}

}  // namespace
}  // namespace seriesgate::testing::load_balancing_test
