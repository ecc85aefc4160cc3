#include "filter/admitted_set.hpp"

#include <atomic>
#include <cmath>
#include <thread>

#include "support/catch.hpp"
#include "support/fingerprints.hpp"
#include "support/near.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using seriesgate::blocks_for;
using seriesgate::expected_false_positive_rate;
using testing::fingerprint_of;
using testing::is_near;

namespace {

/// What came out of asking for series that are not there.
struct measurement {
    double rate = 0;
    double expected_rate = 0;
    double standard_error = 0;  ///< of the rate, relative
};

/// Fills filters to capacity and asks for others. A small filter's own rate depends on how its series happened to fall
/// into few blocks, so there are as many filters as make a million series.
measurement measure(const filter_spec& spec) {
    const std::uint64_t filter_count = std::max<std::uint64_t>(1, 1'000'000 / spec.capacity);
    const auto probes_each = static_cast<std::uint64_t>(1000 / spec.false_positive_rate) / filter_count + 1;
    const std::size_t blocks = blocks_for(spec);
    std::uint64_t hits = 0;
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < filter_count; ++i) {
        split_block filter{blocks};
        for (std::uint64_t k = 0; k < spec.capacity; ++k) filter.insert(fingerprint_of(next++));
        for (std::uint64_t k = 0; k < probes_each; ++k) hits += filter.contains(fingerprint_of(next++)) ? 1 : 0;
    }
    measurement result;
    const auto probes = static_cast<double>(filter_count * probes_each);
    result.rate = static_cast<double>(hits) / probes;
    result.expected_rate = expected_false_positive_rate(spec.capacity, blocks);
    // Two sources: how many of the probes hit (Poisson), and how the series fell into the blocks; a block's own rate
    // deviates from the mean by a factor of about two at the loads in question.
    result.standard_error =
        std::sqrt(1 / (probes * result.expected_rate) + 4 / static_cast<double>(filter_count * blocks));
    return result;
}

}  // namespace

TEST_CASE("a filter never forgets") {
    const auto blocks = GENERATE(std::size_t{1}, 2, 3, 47, 1'000, 65'536, 100'003);
    split_block filter{blocks};
    for (std::uint64_t i = 0; i < 20'000; ++i) filter.insert(fingerprint_of(i));
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) found += filter.contains(fingerprint_of(i)) ? 1 : 0;
    CHECK(found == 20'000);
}

TEST_CASE("the smallest and the largest fingerprint are kept like any other") {
    const auto fingerprint = GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63, ~std::uint64_t{0});
    split_block filter{GENERATE(std::size_t{1}, 1'000'003)};
    CHECK_FALSE(filter.contains(fingerprint));
    filter.prefetch(fingerprint);
    CHECK(filter.insert(fingerprint));
    CHECK(filter.contains(fingerprint));
}

TEST_CASE("an empty filter contains nothing") {
    const split_block filter{16};
    for (std::uint64_t i = 0; i < 10'000; ++i) CHECK_FALSE(filter.contains(fingerprint_of(i)));
}

TEST_CASE("insert says new exactly when contains said no") {
    split_block filter{1'000};  // 1'000 series a block in the end: full
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const bool known = filter.contains(fingerprint_of(i));
        if (filter.insert(fingerprint_of(i)) == known) FAIL("series " << i);
        if (filter.insert(fingerprint_of(i))) FAIL("again new: series " << i);
    }
}

TEST_CASE("a filter takes 64 bytes a block") {
    CHECK(split_block{1}.bytes() == 64);
    CHECK(split_block{47}.bytes() == 3'008);
    CHECK(split_block{47}.block_count() == 47);
}

TEST_CASE("at capacity a filter's false-positive rate is the promised one") {
    const auto rate = GENERATE(0.01, 0.001, 1e-4);
    const auto capacity = GENERATE(std::uint64_t{1'000}, 10'000, 100'000, 1'000'000, 10'000'000);
    if (testing::sanitized && (capacity > 100'000 || rate < 0.001)) return;
    const auto measured = measure({capacity, rate});
    CAPTURE(capacity, rate, measured.rate, measured.expected_rate, measured.standard_error);
    // Sized with no room to spare, the filter measures the promise give or take chance: four standard errors are
    // exceeded once in 30,000 runs, and the fingerprints are the same in every run.
    CHECK(measured.rate <= rate * (1 + 4 * measured.standard_error));
    CHECK(measured.rate <= measured.expected_rate * (1 + 4 * measured.standard_error));
    CHECK(measured.rate >= measured.expected_rate * (1 - 4 * measured.standard_error));
    CHECK(measured.standard_error < 0.05);
}

TEST_CASE("over capacity the rate is the expected one too") {
    const std::uint64_t capacity = 20'000;
    const std::size_t blocks = blocks_for({capacity, 1e-4});
    split_block filter{blocks};
    std::uint64_t inserted = 0;
    for (const unsigned factor : {1u, 2u, 4u, 8u}) {
        for (; inserted < factor * capacity; ++inserted) filter.insert(fingerprint_of(inserted));
        std::uint64_t hits = 0;
        const std::uint64_t probes = 1'000'000;
        for (std::uint64_t i = 0; i < probes; ++i) hits += filter.contains(fingerprint_of(1'000'000'000 + i)) ? 1 : 0;
        const double measured = static_cast<double>(hits) / static_cast<double>(probes);
        CAPTURE(factor, measured);
        CHECK(is_near(measured, expected_false_positive_rate(inserted, blocks), factor == 1 ? 0.4 : 0.1));
    }
}

TEST_CASE("what one thread inserted every thread finds") {
    const std::uint64_t count = testing::sanitized ? 80'000 : 800'000;
    split_block filter{blocks_for({count, 1e-4})};
    std::atomic<std::uint64_t> inserted{0};
    std::atomic<std::uint64_t> missed{0};

    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        for (std::uint64_t i = 0; i < count; ++i) {
            filter.insert(fingerprint_of(i));
            inserted.store(i + 1, std::memory_order_release);
        }
    });
    for (std::uint64_t reader = 0; reader < 3; ++reader)
        threads.emplace_back([&, reader] {
            testing::random_numbers random{reader};
            for (std::uint64_t until = 0; until < count;) {
                until = inserted.load(std::memory_order_acquire);
                for (int k = 0; k < 16 && until > 0; ++k)
                    if (!filter.contains(fingerprint_of(random.below(until)))) ++missed;
            }
        });
    for (auto& thread : threads) thread.join();

    CHECK(missed == 0);
    for (std::uint64_t i = 0; i < count; ++i)
        if (!filter.contains(fingerprint_of(i))) ++missed;
    CHECK(missed == 0);
}

namespace {

double bytes_per_series(std::uint64_t capacity, double rate) {
    return static_cast<double>(64 * blocks_for({capacity, rate})) / static_cast<double>(capacity);
}

}  // namespace

TEST_CASE("24 bits a series keep a false-positive rate of 0.0001") {
    CHECK(bytes_per_series(10'000, 1e-4) <= 3.0);
    CHECK(bytes_per_series(1'000'000, 1e-4) <= 3.0);
    CHECK(bytes_per_series(100'000'000, 1e-4) <= 3.0);
    CHECK(blocks_for({0, 1e-4}) == 1);
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
