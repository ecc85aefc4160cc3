// What --check-config says of memory, against a limiter that is filled.
#include "limit/figures.hpp"

#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace seriesgate::testing::memory_estimate_test {
namespace {

/// Fills the hours from 20:00 on, each with other series, over midnight. @return the most that the windows took.
std::uint64_t most_bytes(const limit_rules& rules, set_kind set, std::uint64_t series_in_hour) {
    offering gate{rules, at(20), set};
    std::uint64_t most = 0;
    for (std::uint64_t hour = 0; hour < 6; ++hour) {
        gate.fill(hour * series_in_hour, series_in_hour, at(20) + std::chrono::hours{hour});
        most = std::max<std::uint64_t>(most, gate.hourly().filter_bytes + gate.daily().filter_bytes);
    }
    return most;
}

}  // namespace

TEST_CASE("a full gate takes no more memory than the estimate, and not much less than a third") {
    for (const set_kind set : {set_kind::bloom, set_kind::exact}) {
        const std::uint64_t hourly = sanitized ? 60'000 : 300'000;
        const limit_rules rules{.global = {.hourly = hourly, .daily = 2 * hourly}, .incumbent_grace = 0s};
        const memory_estimate made = estimate_memory(rules, set);
        REQUIRE(made.at_limits.has_value());
        CHECK(made.at_limits->hour_series == hourly);
        CHECK(made.at_limits->day_series == 2 * hourly);
        const std::uint64_t most = most_bytes(rules, set, hourly + hourly / 15);
        CAPTURE(set, most);
        CHECK(most <= made.at_limits->bytes);
        CHECK(most > made.at_limits->bytes / 3);
    }
}

TEST_CASE("the estimate of a series goes by the set, and by the rate of false positives") {
    CHECK(estimate_memory({}, set_kind::exact).series_bytes_min == 20);
    CHECK(estimate_memory({}, set_kind::exact).series_bytes_max == 32);
    CHECK(estimate_memory({}, set_kind::bloom).series_bytes_min == 9);
    CHECK(estimate_memory({}, set_kind::bloom).series_bytes_max == 18);
    CHECK(estimate_memory({.false_positive_rate = 1e-9}, set_kind::bloom).series_bytes_min > 18);
}

TEST_CASE("only enforced global maxima bound the memory") {
    CHECK_FALSE(estimate_memory({}, set_kind::bloom).at_limits.has_value());
    CHECK_FALSE(estimate_memory({.global = {.active = 5}}, set_kind::exact).at_limits.has_value());
    CHECK_FALSE(estimate_memory({.global = {.hourly = 5}, .mode = limit_mode::observe}, set_kind::bloom).at_limits);
    const auto by_hour = estimate_memory({.global = {.hourly = 1'000}}, set_kind::exact).at_limits.value();
    CHECK(by_hour.hour_series == 1'000);
    CHECK(by_hour.day_series == 24'000);
    CHECK(by_hour.bytes == 25'000 * 32);
    const auto by_day = estimate_memory({.global = {.daily = 1'000}}, set_kind::exact).at_limits.value();
    CHECK(by_day.hour_series == 1'000);
    CHECK(by_day.bytes == 2'000 * 32);
}

}  // namespace seriesgate::testing::memory_estimate_test
