#include "admin/stats.hpp"

#include "limit/figures.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

TEST_CASE("stats have the documented keys, in order") {
    const request_counts counts{.requests = 9,
                                .rejected = 2,
                                .upstream_errors = 3,
                                .samples_received = 9,
                                .samples_accepted = 8,
                                .samples_refused = 1,
                                .samples_stored = 7,
                                .samples_failed = 1};
    const auto start = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1} + 10h;
    limiter_figures figures;
    figures.hourly = {.span = {start, start + 1h},
                      .series_max = 1'000'000,
                      .series_current = 7,
                      .series_refused = 1,
                      .samples_refused = 1,
                      .series_over_limit = 6,
                      .false_positive_rate = 0.5,
                      .filter_bytes = 65536};
    figures.daily.span = {start - 10h, start + 14h};
    figures.exempt_hourly = 3;
    figures.exempt_daily = 4;
    figures.tenants.push_back({.name = {.limit = {}, .tenant = "a", .has_tenant = true, .group = {}},
                               .mode = limit_mode::enforce,
                               .hourly = {.series_max = 5, .series_current = 3, .series_refused = 1},
                               .daily = {}});
    figures.limits.push_back({.name = {.limit = "paths", .tenant = "a", .has_tenant = true, .group = {}},
                              .mode = limit_mode::enforce,
                              .hourly = {},
                              .daily = {}});
    figures.limits.push_back({.name = {.limit = "per-namespace", .tenant = {}, .group = {{"namespace", "x\""}}},
                              .mode = limit_mode::observe,
                              .hourly = {.series_max = 2, .series_current = 2, .series_refused = 9},
                              .daily = {.series_max = 0, .series_current = 11, .series_refused = 0}});
    const std::string all = stats_json("1.2.3", 12s, counts, figures, 100);
    CHECK(all ==
          R"({"version":"1.2.3","uptimeSeconds":12,"mode":"enforce","clockInDoubt":false,)"
          R"("requests":{"total":9,"rejected":2,"upstreamErrors":3},)"
          R"("samples":{"received":9,"accepted":8,"refused":1,"stored":7,"failed":1},)"
          R"("windows":{"hourly":{"start":"2026-01-01T10:00:00Z","end":"2026-01-01T11:00:00Z","maxSeries":1000000,)"
          R"("currentSeries":7,"refusedSeries":1,"refusedSamples":1,"overLimitSeries":6,)"
          R"("falsePositiveRate":5E-1,"filterBytes":65536},)"
          R"("daily":{"start":"2026-01-01T00:00:00Z","end":"2026-01-02T00:00:00Z","maxSeries":0,)"
          R"("currentSeries":0,"refusedSeries":0,"refusedSamples":0,"overLimitSeries":0,)"
          R"("falsePositiveRate":0E0,"filterBytes":0}},)"
          R"("exempt":{"hourlySeries":3,"dailySeries":4},)"
          R"("tenantsTotal":1,"tenants":[{"tenant":"a","hourly":{"maxSeries":5,"currentSeries":3,"refusedSeries":1},)"
          R"("daily":{"maxSeries":0,"currentSeries":0,"refusedSeries":0}}],)"
          R"("limitsTotal":2,"limits":[{"name":"per-namespace","group":{"namespace":"x\""},"mode":"observe",)"
          R"("hourly":{"maxSeries":2,"currentSeries":2,"refusedSeries":9},)"
          R"("daily":{"maxSeries":0,"currentSeries":11,"refusedSeries":0}},)"
          R"({"name":"paths","tenant":"a","group":{},"mode":"enforce",)"
          R"("hourly":{"maxSeries":0,"currentSeries":0,"refusedSeries":0},)"
          R"("daily":{"maxSeries":0,"currentSeries":0,"refusedSeries":0}}]})");
    const std::string head = all.substr(0, all.find(R"("tenantsTotal")"));
    CHECK(stats_json("1.2.3", 12s, counts, figures, 0) ==
          head + R"("tenantsTotal":1,"tenants":[],"limitsTotal":2,"limits":[]})");
    CHECK(stats_json("1.2.3", 12s, counts, figures, 1) == all.substr(0, all.find(R"(,{"name":"paths")")) + "]}");
}
