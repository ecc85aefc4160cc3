#include "cardinality/space_saving.hpp"

#include <cmath>
#include <random>

#include "support/catch.hpp"

using seriesgate::thinning;

namespace {

constexpr std::size_t kept_max = 262'144;

}  // namespace

TEST_CASE("as long as all can be remembered, each counts once") {
    thinning distinct{kept_max};
    std::mt19937_64 random{1};
    std::vector<std::uint64_t> series(kept_max);
    std::uint64_t sum = 0;
    for (std::uint64_t& each : series) sum += distinct.weigh(each = random());
    CHECK(sum == kept_max);
    for (const std::uint64_t each : series) sum += distinct.weigh(each);
    CHECK(sum == kept_max);
    CHECK(distinct.weight() == 1);
}

TEST_CASE("beyond, what is looked at stands for what is not, however often it comes") {
    thinning distinct{kept_max};
    std::mt19937_64 random{2};
    std::vector<std::uint64_t> series(1'000'000);
    for (std::uint64_t& each : series) each = random();
    std::uint64_t sum = 0, looked_at = 0;
    for (int times = 0; times < 3; ++times)
        for (const std::uint64_t each : series) {
            const std::uint64_t weight = distinct.weigh(each);
            sum += weight;
            looked_at += weight != 0;
        }
    CHECK(distinct.weight() == 4);
    const double standard_error = std::sqrt(1e6 * 4);
    CHECK(std::abs(static_cast<double>(sum) - 1e6) < 4 * standard_error);
    CHECK(looked_at < 600'000);
    distinct.clear();
    CHECK(distinct.weight() == 1);
    CHECK(distinct.weigh(series[0]) == 1);
}

TEST_CASE("who knows the fingerprints that stay gets no further than the memory") {
    thinning distinct{kept_max};
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 3 * kept_max; ++i) sum += distinct.weigh(i);  // 44 leading zeros each, or more
    CHECK(distinct.weigh(~std::uint64_t{0}) == 0);
    CHECK(distinct.weight() == thinning::weight_max);
    CHECK(sum >= kept_max);
}
