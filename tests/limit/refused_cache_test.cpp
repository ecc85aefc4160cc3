#include "limit/limiter_state.hpp"

#include <atomic>
#include <thread>

#include "support/catch.hpp"
#include "support/fingerprints.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using testing::fingerprint_of;

namespace {

constexpr unsigned smallest = refused_cache::capacity_log2_min;

refusal refused(verdict how, limit_number by = global_limit) {
    return {.how = how, .limit = by};
}

/// All of one line.
std::uint64_t series(std::uint64_t i) {
    return fingerprint_of(i) & ~std::uint64_t{0x1fff};
}

}  // namespace

TEST_CASE("a refused series is found with the limit that refused it, whatever its number") {
    refused_cache cache{smallest};
    const std::vector<verdict> hows{verdict::refused_hourly, verdict::refused_daily, verdict::refused_hourly_reported,
                                    verdict::refused_daily_reported};
    for (std::uint64_t number = 0; number < limit_numbers_max; ++number) {
        const refusal said = refused(hows[number % 4], static_cast<limit_number>(number));
        const std::uint64_t one = fingerprint_of(number);
        CHECK(cache.insert(one, said) == said);
        if (cache.lookup(one) != said) FAIL("number " << number);
        CHECK(cache.insert(one, refused(verdict::refused_daily)) == said);  // the first one stays
    }
}

TEST_CASE("nothing is found that was not inserted") {
    refused_cache cache{16};
    for (std::uint64_t i = 0; i < 500'000; ++i) cache.insert(fingerprint_of(i), refused(verdict::refused_hourly));
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 500'000; i < 2'000'000; ++i)
        wrong += cache.lookup(fingerprint_of(i)) == std::nullopt ? 0 : 1;
    CHECK(wrong == 0);
}

TEST_CASE("a cache is empty until something is refused, and after it has been cleared") {
    refused_cache cache{smallest};
    CHECK(cache.is_empty());
    cache.insert(fingerprint_of(1), refused(verdict::refused_hourly));
    CHECK_FALSE(cache.is_empty());
    cache.clear();
    CHECK(cache.is_empty());
    cache.insert(fingerprint_of(1), refused(verdict::refused_daily));
    CHECK_FALSE(cache.is_empty());
    CHECK(cache.lookup(fingerprint_of(1)) == refused(verdict::refused_daily));
}

TEST_CASE("fingerprints that differ in one bit are different series") {
    const auto fingerprint = GENERATE(std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, ~std::uint64_t{1},
                                      std::uint64_t{0x123456789abcdef0});
    refused_cache cache{smallest};
    cache.insert(fingerprint, refused(verdict::refused_daily));
    CHECK(cache.lookup(fingerprint) == refused(verdict::refused_daily));
    for (unsigned bit = 0; bit < 64; ++bit) {
        CAPTURE(bit);
        CHECK(cache.lookup(fingerprint ^ std::uint64_t{1} << bit) == std::nullopt);
    }
}

TEST_CASE("an empty cache answers unknown to the fingerprints that look like an empty entry") {
    refused_cache cache{smallest};
    const auto cleared = GENERATE(false, true);
    if (cleared) cache.clear();
    for (const std::uint64_t fingerprint : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, ~std::uint64_t{1},
                                            std::uint64_t{0x9e3779b97f4a6000}, std::uint64_t{0x9e3779b97f4a7fff}}) {
        CHECK(cache.lookup(fingerprint) == std::nullopt);
        cache.insert(fingerprint, refused(verdict::refused_hourly));
        CHECK(cache.lookup(fingerprint) == refused(verdict::refused_hourly));
    }
}

TEST_CASE("a line keeps its last eight and forgets the oldest first") {
    refused_cache cache{smallest};
    CHECK(cache.bytes() == 64 << 13);
    for (std::uint64_t i = 0; i < 8; ++i) cache.insert(series(i), refused(verdict::refused_hourly));
    for (std::uint64_t i = 0; i < 8; ++i) CHECK(cache.lookup(series(i)) == refused(verdict::refused_hourly));
    for (std::uint64_t i = 8; i < 40; ++i) {
        cache.insert(series(i), refused(verdict::refused_hourly));
        CHECK(cache.lookup(series(i - 8)) == std::nullopt);
        for (std::uint64_t kept = i - 7; kept <= i; ++kept)
            if (cache.lookup(series(kept)) != refused(verdict::refused_hourly)) FAIL("lost " << kept);
    }
}

TEST_CASE("a series inserted again pushes no other out") {
    refused_cache cache{smallest};
    for (std::uint64_t i = 0; i < 8; ++i)
        for (int again = 0; again < 5; ++again) cache.insert(series(i), refused(verdict::refused_hourly));
    for (std::uint64_t i = 0; i < 8; ++i) CHECK(cache.lookup(series(i)) == refused(verdict::refused_hourly));
}

TEST_CASE("clear forgets everything, any number of times") {
    refused_cache cache{smallest};
    for (std::uint64_t round = 0; round < 1'000; ++round) {
        cache.insert(fingerprint_of(1), refused(verdict::refused_hourly));
        cache.insert(fingerprint_of(2), refused(verdict::refused_daily));
        cache.insert(fingerprint_of(1'000 + round), refused(verdict::refused_daily));
        cache.clear();
        if (cache.lookup(fingerprint_of(1)) != std::nullopt) FAIL("round " << round);
        if (cache.lookup(fingerprint_of(2)) != std::nullopt) FAIL("round " << round);
        for (std::uint64_t i = 0; i <= round; ++i)
            if (cache.lookup(fingerprint_of(1'000 + i)) != std::nullopt) FAIL("round " << round << ": " << i);
    }
}

TEST_CASE("after a clear the forgotten entries make room first") {
    refused_cache cache{smallest};
    for (std::uint64_t i = 0; i < 8; ++i) cache.insert(series(i), refused(verdict::refused_hourly));
    cache.clear();
    for (std::uint64_t i = 100; i < 108; ++i) cache.insert(series(i), refused(verdict::refused_daily));
    for (std::uint64_t i = 100; i < 108; ++i) CHECK(cache.lookup(series(i)) == refused(verdict::refused_daily));
}

TEST_CASE("a cache holds nearly as many series as it has entries") {
    refused_cache cache{19};
    CHECK(cache.bytes() == 4u << 20);
    const std::uint64_t count = 1 << 18;  // half full: lines with more than eight are rare
    for (std::uint64_t i = 0; i < count; ++i) cache.insert(fingerprint_of(i), refused(verdict::refused_hourly));
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < count; ++i)
        found += cache.lookup(fingerprint_of(i)) == refused(verdict::refused_hourly) ? 1 : 0;
    CHECK(found > count * 97 / 100);
}

TEST_CASE("lookups beside inserts and clears find only what was inserted, in the window it was inserted for") {
    refused_cache cache{smallest};
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> wrong{0};
    std::vector<std::thread> readers;
    for (std::uint64_t reader = 0; reader < 3; ++reader)
        readers.emplace_back([&, reader] {
            testing::random_numbers random{reader};
            while (!done.load(std::memory_order_relaxed)) {
                const std::uint64_t i = random.below(2'000);
                const auto found = cache.lookup(fingerprint_of(i));
                // 0-499 are refused by the hour, 500-999 by the day, the others never.
                if (i >= 1'000 && found != std::nullopt) ++wrong;
                if (i < 500 && found == refused(verdict::refused_daily)) ++wrong;
                if (i >= 500 && found == refused(verdict::refused_hourly)) ++wrong;
            }
        });
    testing::random_numbers random{99};
    for (int i = 0; i < (testing::sanitized ? 50'000 : 500'000); ++i) {
        const std::uint64_t k = random.below(1'000);
        cache.insert(fingerprint_of(k), refused(k < 500 ? verdict::refused_hourly : verdict::refused_daily));
        if (random.one_in(1'000)) cache.clear();
    }
    done = true;
    for (auto& reader : readers) reader.join();
    CHECK(wrong == 0);
}
