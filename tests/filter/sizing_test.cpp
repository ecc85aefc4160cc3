#include "filter/sizing.hpp"

#include "support/catch.hpp"

using seriesgate::blocks_for;
using seriesgate::expected_false_positive_rate;

namespace {

double bytes_per_series(std::uint64_t capacity, double rate) {
    return static_cast<double>(64 * blocks_for({capacity, rate})) / static_cast<double>(capacity);
}

}  // namespace

TEST_CASE("24 bits a series keep a false-positive rate of 0.0001") {
    CHECK(bytes_per_series(10'000, 1e-4) <= 3.0);
    CHECK(bytes_per_series(1'000'000, 1e-4) <= 3.0);
    CHECK(bytes_per_series(100'000'000, 1e-4) <= 3.0);
    CHECK(blocks_for({1'000, 1e-4}) == 47);  // 3008 bytes: whole blocks
    CHECK(blocks_for({1'000'000, 1e-4}) == 46'108);
}

TEST_CASE("a filter is never smaller than its promise needs, and never a block larger") {
    const auto capacity = GENERATE(std::uint64_t{1}, 10, 1'000, 54'321, 1'000'000, 250'000'000);
    const auto rate = GENERATE(0.5, 0.01, 0.001, 1e-4, 1e-6, 1e-9);
    CAPTURE(capacity, rate);
    const auto blocks = blocks_for({capacity, rate});
    REQUIRE(blocks >= 1);
    CHECK(expected_false_positive_rate(capacity, blocks) <= rate);
    if (blocks > 1) CHECK(expected_false_positive_rate(capacity, blocks - 1) > rate);
}

TEST_CASE("more series or a lower rate never make a filter smaller") {
    std::size_t blocks_before = 0;
    for (std::uint64_t capacity = 1; capacity < 100'000'000; capacity += 1 + capacity / 3) {
        const auto blocks = blocks_for({capacity, 1e-4});
        CHECK(blocks >= blocks_before);
        blocks_before = blocks;
    }
    blocks_before = 0;
    for (double rate = 0.5; rate > 1e-9; rate *= 0.7) {
        const auto blocks = blocks_for({100'000, rate});
        CHECK(blocks >= blocks_before);
        blocks_before = blocks;
    }
}

TEST_CASE("the expected rate rises with the series and falls with the blocks") {
    double before = -1;
    for (std::uint64_t series = 0; series < 50'000'000; series += 1 + series / 2) {
        const double rate = expected_false_positive_rate(series, 1'000);
        CHECK(rate >= before - 1e-9);  // the sum of a thousand terms is rounded
        CHECK(rate >= 0);
        CHECK(rate <= 1);
        before = rate;
    }
    CHECK(expected_false_positive_rate(0, 1) == 0);
    CHECK(expected_false_positive_rate(50'000'000, 1'000) > 0.999);
    CHECK(expected_false_positive_rate(10'000, 2'000) < expected_false_positive_rate(10'000, 1'000));
}

TEST_CASE("a capacity of nothing still makes a filter") {
    CHECK(blocks_for({0, 1e-4}) == 1);
}
