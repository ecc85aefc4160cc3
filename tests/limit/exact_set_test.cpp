// seriesSet: exact. The model tests take both kinds; here is what only a table can do.

#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("of ten million new series beyond a limit not one passes") {
    constexpr std::uint64_t max = 1'000'000;
    const std::uint64_t offered = sanitized ? 1'200'000 : 11'000'000;
    offering gate{{.global = {.hourly = max}}, at(10), set_kind::exact};
    std::uint64_t accepted = 0;
    for (std::uint64_t first = 0; first < offered; first += 2'000) {
        accepted += gate.accepted(series(first, 2'000), at(10));
        if (first % 20'000 == 0) gate.limiter.maintain(at(10));
    }
    CHECK(accepted == max);
    const window_figures shown = gate.hourly();
    CHECK(shown.series_current == max);
    CHECK(shown.false_positive_rate == 0);
    CHECK(shown.filter_bytes < 40 * max);
}

TEST_CASE("a table needs no memory for a new hour, and forgets what no window needs") {
    offering gate{{}, at(22), set_kind::exact};
    std::size_t bytes = 0;
    for (int hour = 0; hour < 60; ++hour) {
        const time_point now = at(22) + std::chrono::hours{hour};
        for (std::uint64_t first = 0; first < 20'000; first += 2'000) {
            gate.offer(series(static_cast<std::uint64_t>(hour) * 20'000 + first, 2'000), now);
            CHECK(std::ranges::count(gate.verdicts, verdict::admitted) == 2'000);
            for (int tick = 0; tick < 20; ++tick) gate.limiter.maintain(now);
        }
        CHECK(gate.hourly().series_current == 20'000);
        if (hour == 30) bytes = gate.hourly().filter_bytes;  // a day and an hour have passed
    }
    CHECK(gate.hourly().filter_bytes <= bytes + bytes / 4);
}
