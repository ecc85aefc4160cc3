// Whose senders are told of refusals.
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Limits of one series each: of the tenants, and of a label.
limit_rules one_each() {
    limit_rules settings;
    settings.tenants.fallback = {.hourly = 1, .daily = 0};
    settings.tenants.answers = {{"told", limit_answer::reject}};
    settings.limits = {limit_named("one-job", {}, {.hourly = 0, .daily = 1}, "{job=\"web\"}")};
    return settings;
}

/// What became of two new series.
std::vector<verdict> verdicts_of_two(labelled_offering& gate, const std::string& tenant, const std::string& job) {
    static std::uint64_t first = 0;
    gate.offer({.tenant = tenant, .labels = {{"job", job}}, .first = first += 2, .count = 2}, at(10));
    return gate.verdicts;
}

}  // namespace

TEST_CASE("a tenant's senders are told, if that is its answer") {
    labelled_offering gate{one_each(), at(10)};
    CHECK(verdicts_of_two(gate, "quiet", "batch") == std::vector{verdict::admitted, verdict::refused_hourly});
    CHECK(verdicts_of_two(gate, "told", "batch") == std::vector{verdict::admitted, verdict::refused_hourly_reported});
    CHECK(is_reported(gate.verdicts[1]));
}

TEST_CASE("a label limit's own answer goes before the tenant's, and one that tells is enough") {
    limit_rules settings = one_each();
    settings.tenants.fallback = {};
    SECTION("it tells") {
        settings.limits[0].answer = limit_answer::reject;
        labelled_offering gate{settings, at(10)};
        CHECK(verdicts_of_two(gate, "quiet", "web") == std::vector{verdict::admitted, verdict::refused_daily_reported});
    }
    SECTION("it does not") {
        settings.limits[0].answer = limit_answer::drop;
        labelled_offering gate{settings, at(10)};
        CHECK(verdicts_of_two(gate, "told", "web") == std::vector{verdict::admitted, verdict::refused_daily});
    }
    SECTION("it does not, but the tenant's limit is spent too") {
        settings.limits[0].answer = limit_answer::drop;
        settings.tenants.fallback = {.hourly = 1, .daily = 0};
        labelled_offering gate{settings, at(10)};
        CHECK(verdicts_of_two(gate, "told", "web") == std::vector{verdict::admitted, verdict::refused_hourly_reported});
    }
    SECTION("a limit that observes tells nobody") {
        settings.limits[0].answer = limit_answer::reject;
        settings.limits[0].mode = limit_mode::observe;
        labelled_offering gate{settings, at(10)};
        CHECK(verdicts_of_two(gate, "told", "web") == std::vector{verdict::admitted, verdict::admitted});
    }
}

TEST_CASE("what was told once is told again without the lock, until a reload says otherwise") {
    limit_rules settings = one_each();
    labelled_offering gate{settings, at(10)};
    const batch sent{.tenant = "told", .labels = {{"job", "batch"}}, .first = 0, .count = 3};
    std::vector<verdict> told{verdict::admitted, verdict::refused_hourly_reported, verdict::refused_hourly_reported};
    gate.offer(sent, at(10));
    CHECK(gate.verdicts == told);
    const auto commits = figures_of(gate.limiter).commits;
    gate.offer(sent, at(10, 1));
    told.front() = verdict::known;
    CHECK(gate.verdicts == told);
    CHECK(figures_of(gate.limiter).commits == commits);
    CHECK(gate.hourly() == tally{.refused = 2, .samples_refused = 4});

    settings.tenants.answers.clear();
    gate.limiter.reconfigure(settings);
    gate.offer(sent, at(10, 2));
    CHECK(gate.verdicts == std::vector{verdict::known, verdict::refused_hourly, verdict::refused_hourly});
}
