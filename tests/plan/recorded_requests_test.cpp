// The requests that a real Prometheus sent: 16 of them, 32,000 samples of 31,817 series.
#include <thread>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "plan/planner.hpp"
#include "plan/requests.hpp"
#include "support/catch.hpp"
#include "support/near.hpp"
#include "wire/splice.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// What goes upstream of every request of a replay; nothing for those of which nothing is left.
std::vector<std::string> replay(const std::vector<std::string>& bodies, series_limiter& limiter, planner& plan_request,
                                time_point now = noon) {
    std::vector<std::string> forwarded;
    for (const auto& body : bodies) {
        const auto made = plan_request(body, limiter, now);
        REQUIRE(made.has_value());
        std::string left;
        if (made->forward == body_action::unchanged) left = body;
        if (made->forward == body_action::spliced) splice(body, made->removed, left);
        forwarded.push_back(std::move(left));
    }
    return forwarded;
}

/// The first `count` distinct series in the order of the requests.
std::set<label_pairs> first_series(const std::vector<prometheus::WriteRequest>& requests, std::size_t count) {
    std::set<label_pairs> first;
    for (const auto& request : requests)
        for (const auto& series : request.timeseries())
            if (first.size() < count) first.insert(labels_of(series));
    return first;
}

/// Whether of each request the series that are kept went on, and nothing else.
void check_forwarded(const std::vector<std::string>& forwarded, const std::vector<std::string>& bodies,
                     const std::set<label_pairs>& kept) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const auto wanted = without_others(parsed(bodies[i]), kept);
        if (parsed(forwarded[i]).SerializeAsString() != wanted.SerializeAsString()) FAIL("request " << i);
    }
}

std::vector<prometheus::WriteRequest> all_parsed(const std::vector<std::string>& bodies) {
    std::vector<prometheus::WriteRequest> requests;
    for (const auto& body : bodies) requests.push_back(parsed(body));
    return requests;
}

}  // namespace

TEST_CASE("without limits the recorded requests are 31,817 series and go on as they are") {
    const auto bodies = recorded_requests();
    REQUIRE(bodies.size() == 16);
    series_limiter limiter{{}, noon};
    planner plan_request{hash_key::known_to_all()};
    std::uint64_t samples = 0;
    for (const auto& body : bodies) {
        const auto made = plan_request(body, limiter, noon);
        REQUIRE(made.has_value());
        CHECK(made->forward == body_action::unchanged);
        samples += made->received.samples;
    }
    CHECK(samples == 32'000);
    CHECK(first_series(all_parsed(bodies), 1'000'000).size() == 31'817);
    CHECK(figures_of(limiter).hourly.series_current == 31'817);
    CHECK(figures_of(limiter).daily.series_current == 31'817);
    CHECK(replay(bodies, limiter, plan_request) == bodies);
    CHECK(figures_of(limiter).hourly.series_current == 31'817);
}

TEST_CASE("with a limit of 10,000 the first 10,000 of the recorded series go on, in order, and again in every replay") {
    const auto bodies = recorded_requests();
    const auto kept = first_series(all_parsed(bodies), 10'000);
    const auto settings = GENERATE(values<limit_rules>({
        {.global = {.hourly = 10'000}},
        {.global = {.daily = 10'000}},
        {.global = {.hourly = 10'000, .daily = 10'000}},
    }));
    series_limiter limiter{settings, noon};
    planner plan_request{hash_key::known_to_all()};
    const auto forwarded = replay(bodies, limiter, plan_request);
    check_forwarded(forwarded, bodies, kept);
    const auto figures = figures_of(limiter);
    CHECK(figures.hourly.series_current == 10'000);
    CHECK(figures.daily.series_current == 10'000);
    CHECK(is_near(figures.hourly.series_refused + figures.daily.series_refused, 21'817, 0.02));

    for (int again = 0; again < 3; ++again) CHECK(replay(bodies, limiter, plan_request) == forwarded);
    CHECK(figures_of(limiter).hourly.series_current == 10'000);
    CHECK(figures_of(limiter).commits == figures.commits);
}

TEST_CASE("in the next hour the same 10,000 series are admitted, though all the others come first") {
    const auto bodies = recorded_requests();
    const auto kept = first_series(all_parsed(bodies), 10'000);
    series_limiter limiter{{.global = {.hourly = 10'000}}, noon};
    planner plan_request{hash_key::known_to_all()};
    replay(bodies, limiter, plan_request);

    auto backwards = bodies;
    std::ranges::reverse(backwards);
    const auto forwarded = replay(backwards, limiter, plan_request, noon + std::chrono::hours{1});
    check_forwarded(forwarded, backwards, kept);
    CHECK(figures_of(limiter).hourly.series_current == 10'000);
}

TEST_CASE("requests with native histograms are cut as the generated classes would cut them") {
    const auto bodies = recorded_requests("native-histograms-v1");
    REQUIRE(bodies.size() == 2);
    std::uint64_t samples = 0;
    std::uint64_t histograms = 0;
    series_limiter unlimited{{}, noon};
    planner plan_request{hash_key::known_to_all()};
    for (const auto& body : bodies) {
        const auto made = plan_request(body, unlimited, noon);
        REQUIRE(made.has_value());
        samples += made->received.samples;
        histograms += made->received.histograms;
    }
    CHECK(samples == 2'903 + 19);
    CHECK(histograms == 19);
    CHECK(figures_of(unlimited).hourly.series_current == 1'096);

    series_limiter limiter{{.global = {.hourly = 400}}, noon};
    check_forwarded(replay(bodies, limiter, plan_request), bodies, first_series(all_parsed(bodies), 400));
}

TEST_CASE("a recorded request of metadata goes on unchanged") {
    const auto bodies = recorded_requests("metadata-v1");
    series_limiter limiter{{.global = {.hourly = 1}}, noon};
    planner plan_request{hash_key::known_to_all()};
    CHECK(replay(bodies, limiter, plan_request) == bodies);
    const auto made = plan_request(bodies[0], limiter, noon);
    CHECK(made->metadata == 528);
    CHECK(figures_of(limiter).hourly.series_current == 0);
}

TEST_CASE("planners of several threads share one limit exactly") {
    const auto bodies = recorded_requests();
    series_limiter limiter{{.global = {.hourly = 10'000}}, noon};
    constexpr std::size_t thread_count = 4;
    std::vector<std::vector<std::string>> forwarded(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < thread_count; ++t)
        threads.emplace_back([&, t] {
            planner plan_request{hash_key::known_to_all()};
            std::string left;
            for (std::size_t i = 0; i < bodies.size(); ++i) {
                const auto& body = bodies[(i + 4 * t) % bodies.size()];
                const auto made = plan_request(body, limiter, noon);
                splice(body, made->removed, left);
                forwarded[t].push_back(left);
            }
        });
    for (auto& thread : threads) thread.join();
    std::set<label_pairs> admitted;
    for (const auto& bodies_of_one : forwarded)
        for (const auto& body : all_parsed(bodies_of_one))
            for (const auto& series : body.timeseries()) admitted.insert(labels_of(series));
    CHECK(admitted.size() == 10'000);
    CHECK(figures_of(limiter).hourly.series_current == 10'000);
}
