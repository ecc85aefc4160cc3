// seriesSet: exact. The model tests take both kinds; here is what only a table can do.
#include <cstdint>

#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("of ten million new series beyond a limit not one passes") {
    constexpr std::uint64_t max = 1'000'000;
    const std::uint64_t offered = sanitized ? 1'200'000 : 11'000'000;
    series_limiter limiter{
        {.global = {.hourly = max}}, at(10), hash_key::known_to_all(), limit_scope::gate, set_kind::exact};
    lookup_result scratch;
    std::vector<verdict> verdicts;
    std::uint64_t accepted = 0;
    for (std::uint64_t first = 0; first < offered; first += 2'000) {
        const auto some = series(first, 2'000);
        verdicts.assign(some.size(), verdict::unknown);
        limiter.decide(some, at(10), verdicts, scratch);
        accepted += static_cast<std::uint64_t>(std::ranges::count_if(verdicts, is_accepted));
        if (first % 20'000 == 0) limiter.maintain(at(10));
    }
    CHECK(accepted == max);
    const limiter_figures shown = figures_of(limiter);
    CHECK(shown.hourly.series_current == max);
    CHECK(shown.hourly.false_positive_rate == 0);
    CHECK(shown.hourly.filter_bytes < 40 * max);
}

TEST_CASE("a table needs no memory for a new hour, and forgets what no window needs") {
    series_limiter limiter{{}, at(22), hash_key::known_to_all(), limit_scope::gate, set_kind::exact};
    lookup_result scratch;
    std::vector<verdict> verdicts;
    std::size_t bytes = 0;
    for (int hour = 0; hour < 60; ++hour) {
        const time_point now = at(22) + std::chrono::hours{hour};
        for (std::uint64_t first = 0; first < 20'000; first += 2'000) {
            const auto some = series(static_cast<std::uint64_t>(hour) * 20'000 + first, 2'000);
            verdicts.assign(some.size(), verdict::unknown);
            limiter.decide(some, now, verdicts, scratch);
            CHECK(std::ranges::all_of(verdicts, [](verdict each) { return each == verdict::admitted; }));
            for (int tick = 0; tick < 20; ++tick) limiter.maintain(now);
        }
        CHECK(figures_of(limiter).hourly.series_current == 20'000);
        if (hour == 30) bytes = figures_of(limiter).hourly.filter_bytes;  // a day and an hour have passed
    }
    CHECK(figures_of(limiter).hourly.filter_bytes <= bytes + bytes / 4);
}
