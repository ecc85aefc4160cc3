#include "upstream/store_client.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace backend_choice_test {
namespace {

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

}  // namespace

TEST_CASE("equal backends are chosen in turn") {
    CHECK(chosen_in({{}, {}, {}}, 30) == std::vector{10, 10, 10});
}

TEST_CASE("the backend with the fewest requests in flight is chosen, and equal ones in turn") {
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

}  // namespace backend_choice_test
