#include "support/allocations.hpp"

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "plan/planner.hpp"
#include "plan/requests.hpp"
#include "support/catch.hpp"
#include "wire/splice.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a known, a refused and a partly refused request are planned without a lock and without an allocation") {
    const auto bodies = recorded_requests();
    series_limiter limiter{{.global = {.hourly = 9'000}}, noon};
    planner plan_request{hash_key::known_to_all()};
    for (const auto& body : bodies) REQUIRE(plan_request(body, limiter, noon).has_value());  // 2,000 series each
    const auto commits = figures_of(limiter).commits;
    std::string left;
    left.reserve(bodies[4].size());

    const auto plan_and_splice = [&](const std::string& body, body_action wanted) {
        for (int i = 0; i < 3; ++i) {
            body_action forward{};
            CHECK(allocations_of([&] {
                      const auto made = plan_request(body, limiter, noon);
                      forward = made->forward;
                      splice(body, made->removed, left);
                  }).count == 0);
            CHECK(forward == wanted);
        }
    };
    plan_and_splice(bodies[0], body_action::unchanged);
    plan_and_splice(bodies[4], body_action::spliced);
    plan_and_splice(bodies[9], body_action::nothing);
    CHECK(figures_of(limiter).commits == commits);
}
