/// What fuzz_snapshot loads a state into. The first byte of its input chooses it, the rest is the state.
#pragma once

#include <chrono>
#include <cstdint>

#include "limit/limiter.hpp"

namespace seriesgate::testing {

struct small_limiter {
    limit_rules settings;
    time_point now;
};

/// As small as a limiter can be, so that inputs are small too and a run is short. The lowest bit says whether there are
/// limits by tenant and by job, the next two which moment it is: 23:00 the day before, noon, 01:00 or 14:00 of the next
/// day.
inline small_limiter small_limiter_of(std::uint8_t choice) {
    using namespace std::chrono_literals;
    constexpr time_point noon = std::chrono::sys_days{2026y / 11 / 21} + 12h;
    small_limiter made{.settings = {.global = {.hourly = 3}, .false_positive_rate = 0.5},
                       .now = noon + 13h * (choice / 2 % 4) - 13h};
    if (choice % 2 == 0) return made;
    made.settings.tenants.fallback = {.hourly = 2, .daily = 2};
    made.settings.tenants.tenants_max = 2;
    label_limit by_job;
    by_job.name = "by-job";
    by_job.each = {"job"};
    by_job.groups_max = 2;
    by_job.maxima = {.hourly = 1, .daily = 2};
    made.settings.limits.push_back(by_job);
    return made;
}

}  // namespace seriesgate::testing
