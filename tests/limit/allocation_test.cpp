#include "support/allocations.hpp"

#include "limit/admission.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("the count of allocations counts") {
    CHECK(allocations_of([] { std::vector<int>(100).swap(*std::make_unique<std::vector<int>>()); }).count == 2);
    struct alignas(64) line {
        char bytes[64];
    };
    CHECK(allocations_of([] { CHECK(std::make_unique<line[]>(3) != nullptr); }).bytes >= 192);
    CHECK(allocations_of([] {}).count == 0);
}

TEST_CASE("known and refused series and their markers take no lock and allocate nothing") {
    offering gate{{.series_hourly_max = 1'000, .series_daily_max = 1'500}, at(10)};
    const auto offered = joined(series(0, 2'000), stale_markers(500, 1'000));
    gate.offer(offered, at(10));  // the buffers grow to their size
    gate.offer(offered, at(11, 15));
    const auto commits = gate.commits();

    const auto decide = [&] { gate.limits.decide(offered, at(11, 20), gate.verdicts, gate.scratch); };
    for (int i = 0; i < 10; ++i) CHECK(allocations_of(decide).count == 0);
    CHECK(gate.commits() == commits);
    CHECK(std::ranges::count(gate.verdicts, verdict::accepted) > 1'000);
    CHECK(std::ranges::count(gate.verdicts, verdict::refused_hourly) == 1'000);
}

TEST_CASE("a commit of new series allocates nothing either") {
    offering gate{{.series_hourly_max = 1'000'000}, at(10)};
    gate.offer(series(0, 2'000), at(10));
    const auto offered = series(2'000, 2'000);
    gate.verdicts.assign(offered.size(), verdict::refused_hourly);
    CHECK(allocations_of([&] { gate.limits.decide(offered, at(10), gate.verdicts, gate.scratch); }).count == 0);
    CHECK(gate.hourly().series_current == 4'000);
}

TEST_CASE("a roll-over on a request allocates no filter when maintenance has been there") {
    offering gate{{.series_hourly_max = 1'000}, at(23)};
    const auto offered = series(0, 1'000);
    gate.offer(offered, at(23));
    gate.limits.maintain(at(23, 59, 59));
    const auto decide = [&] { gate.limits.decide(offered, at(0, 0, 0, 1), gate.verdicts, gate.scratch); };
    CHECK(allocations_of(decide).bytes < 1'000);
    CHECK(gate.hourly().series_current == 1'000);
}

TEST_CASE("maintenance makes the next window's memory once, not again for every new series") {
    offering gate{{}, at(10)};
    gate.offer(series(0, 300'000), at(10));
    const auto maintain = [&] { gate.limits.maintain(at(10, 59, 30)); };
    CHECK(allocations_of(maintain).count > 0);
    for (std::uint64_t i = 0; i < 100; ++i) {
        gate.offer(series(1'000'000 + i, 1), at(10, 59, 30));
        CHECK(allocations_of(maintain).count == 0);
    }
}
