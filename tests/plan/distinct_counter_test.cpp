#include "plan/plan.hpp"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

std::uint64_t counted(distinct_counter& counter, const std::vector<std::uint64_t>& fingerprints) {
    counter.start();
    for (const auto each : fingerprints) counter.add(each);
    return counter.count();
}

}  // namespace

TEST_CASE("different fingerprints are counted, from one use to the next") {
    distinct_counter counter;
    CHECK(counted(counter, {}) == 0);
    CHECK(counted(counter, {0}) == 1);
    CHECK(counted(counter, {0, 0, 5, 0, 5}) == 2);
    CHECK(counted(counter, {7}) == 1);
    std::mt19937_64 random{1};
    for (const std::size_t count : {3u, 100u, 5000u}) {
        std::vector<std::uint64_t> fingerprints;
        for (std::size_t i = 0; i < count; ++i) fingerprints.push_back(random() % count);
        CHECK(counted(counter, fingerprints) ==
              std::set<std::uint64_t>(fingerprints.begin(), fingerprints.end()).size());
        for (auto& each : fingerprints) each = random();
        CHECK(counted(counter, fingerprints) == count);
    }
}

TEST_CASE("fingerprints that were made to collide are counted all the same, and soon") {
    std::vector<std::uint64_t> fingerprints;
    for (std::uint64_t i = 0; i < 200'000; ++i) fingerprints.push_back(i << 32);
    distinct_counter counter;
    CHECK(counted(counter, fingerprints) == 200'000);
}
