#include "top/figures.hpp"

#include "support/catch.hpp"

using namespace seriesgate::top;
using namespace std::chrono;

namespace {

constexpr const char* stats = R"({"schemaVersion":1,"version":"0.1.0","uptimeSeconds":7260,"mode":"enforce",
"clockInDoubt":true,"new key":[],"shared":{"state":"away"},
"upstreams":[{"store":"a:1","waiting":4,"doors":[{"door":"a:1","up":true,"inFlight":1,"requests":20,"errors":0},
{"door":"b:2","up":false,"inFlight":0,"requests":3,"errors":2}]}],
"windows":{"hourly":{"end":"2026-01-01T11:00:00Z","maxSeries":100,"currentSeries":60,"refusedSeries":7},
"daily":{"end":"2026-01-02T00:00:00Z","maxSeries":0,"currentSeries":61,"refusedSeries":8}},
"tenants":[{"tenant":"a","mode":"observe","hourly":{"maxSeries":10,"currentSeries":9,"refusedSeries":0},
"daily":{"maxSeries":0,"currentSeries":9,"refusedSeries":0}},
{"tenant":"","mode":"enforce","hourly":{"maxSeries":10,"currentSeries":1,"refusedSeries":0},
"daily":{"maxSeries":0,"currentSeries":9,"refusedSeries":0}}],
"limits":[{"name":"per-job","tenant":"b","group":{"job":"shop","ns":"x"},"mode":"enforce",
"hourly":{"maxSeries":5,"currentSeries":5,"refusedSeries":3},"daily":{"maxSeries":50,"currentSeries":5,"refusedSeries":3}}]})";

constexpr sys_days new_year{year{2026} / 1 / 1};

}  // namespace

TEST_CASE("figures are read from stats") {
    figures read;
    REQUIRE(take_stats(read, stats).empty());
    CHECK(read.version == "0.1.0");
    CHECK(read.uptime == 7260s);
    CHECK(read.mode == "enforce");
    CHECK(read.clock_in_doubt);
    CHECK(read.shared == "away");
    CHECK(read.hourly.series_max == 100);
    CHECK(read.hourly.series == 60);
    CHECK(read.hourly.refused == 7);
    CHECK(read.hourly.end == new_year + 11h);
    CHECK(read.daily.series == 61);
    REQUIRE(read.backends.size() == 2);
    CHECK(read.backends[0].name == "b:2");
    CHECK(read.backends[0].store == "a:1");
    CHECK_FALSE(read.backends[0].is_up);
    CHECK(read.backends[0].errors == 2);
    CHECK(read.backends[1].name == "a:1");
    CHECK(read.backends[1].is_up);
    CHECK(read.backends[1].waiting == 4);
}

TEST_CASE("which counts are estimates is said, or follows from how many they are") {
    figures read;
    const auto stats_with = [](const std::string& hour, const std::string& refusals) {
        return R"({"version":"1","uptimeSeconds":1,"mode":"enforce","clockInDoubt":false,"upstreams":[],)" + refusals +
               R"("windows":{"hourly":{"end":"2026-01-01T11:00:00Z","maxSeries":100,"currentSeries":60,)" + hour +
               R"(},"daily":{"end":"2026-01-02T00:00:00Z","maxSeries":0,"currentSeries":61,"refusedSeries":8}},)"
               R"("tenants":[{"tenant":"__overflow__","mode":"enforce","note":"shared","hourly":{"maxSeries":1,)"
               R"("currentSeries":1,"refusedSeries":2},"daily":{"maxSeries":0,"currentSeries":1,"refusedSeries":0}}],)"
               R"("limits":[]})";
    };
    REQUIRE(take_stats(read, stats_with(R"("refusedSeries":6422)", "")).empty());
    CHECK_FALSE(read.hourly.refused_is_exact);
    CHECK(read.daily.refused_is_exact);
    CHECK_FALSE(read.last_refused);
    CHECK(read.budgets.at(0).note == "shared");
    REQUIRE(take_stats(read, stats_with(R"("refusedSeries":6422,"refusedSeriesExact":true)",
                                        R"("refusals":{"lastRefused":"2026-01-01T10:12:00Z"},)"))
                .empty());
    CHECK(read.hourly.refused_is_exact);
    CHECK(read.last_refused == new_year + 10h + 12min);
}

TEST_CASE("budgets come in the order of how full they are, those without a limit not at all") {
    figures read;
    REQUIRE(take_stats(read, stats).empty());
    REQUIRE(read.budgets.size() == 4);
    CHECK(read.budgets[0].name == "per-job{job=shop, ns=x} of tenant b");
    CHECK(read.budgets[0].counts.refused == 3);
    CHECK(read.budgets[1].name == "tenant a");
    CHECK(read.budgets[1].observes);
    CHECK(read.budgets[2].window == count_window::day);
    CHECK(read.budgets[2].counts.series_max == 50);
    CHECK(read.budgets[3].name == "no tenant");
    CHECK(read.listed == 0);
    const std::string totals = R"({"tenantsTotal":2,"limitsTotal":301,)";
    REQUIRE(take_stats(read, totals + (stats + 1)).empty());
    CHECK(read.listed == 3);
}

TEST_CASE("the budget of a limit that leaves the decision to others refuses nothing") {
    figures read;
    std::string renamed{stats};
    renamed.replace(renamed.find("per-job"), 7, "ignored-values");
    REQUIRE(take_stats(read, renamed).empty());
    CHECK(read.budgets.at(0).name == "ignored-values{job=shop, ns=x} of tenant b");
    CHECK((!read.budgets[0].refuses && read.budgets[0].counts.refused == 0));
    CHECK((read.budgets[1].refuses && read.budgets[1].observes));
}

TEST_CASE("findings and their remedies are read") {
    figures read;
    REQUIRE(
        take_findings(read, R"({"status":"success","data":[{"text":"t","remedy":{"relabel":"a\nb\n","limit":"c"}}]})")
            .empty());
    REQUIRE(read.findings.size() == 1);
    CHECK(read.findings[0].text == "t");
    CHECK(read.findings[0].relabel == "a\nb\n");
    CHECK(read.findings[0].limit == "c");
}

TEST_CASE("talkers are read with what is said of their kind alone") {
    const std::string one =
        R"({"status":"success","data":[{"value":"v","series":5,"error":2,"lastSeen":"2026-01-01T10:04:07Z",
"metric":"up","tenant":"a","distinctValues":4,"userAgent":"vmagent"}]})";
    figures read;
    REQUIRE(take_top_entries(read, one, "metric").empty());
    CHECK(read.top[0].series == 5);
    CHECK(read.top[0].error == 2);
    CHECK(read.top[0].values == 0);
    CHECK(read.top[0].detail.empty());
    CHECK(read.top[0].last_seen == new_year + 10h + 4min + 7s);
    REQUIRE(take_top_entries(read, one, "sender").empty());
    CHECK(read.top[0].detail == "vmagent");
    REQUIRE(take_top_entries(read, one, "label").empty());
    CHECK(read.top[0].detail == "of up, tenant a");
    CHECK(read.top[0].values == 4);
}

TEST_CASE("refused series read as in PromQL") {
    figures read;
    REQUIRE(
        take_refused(
            read, R"({"status":"success","data":[{"labels":{"a":"x\\\\y\"","__name__":"up"},"tenant":"t","sender":"s",
"limit":"global","window":"daily","time":"2026-01-01T10:04:07Z"},{"labels":{"__name__":"up"},"tenant":"","sender":"s",
"limit":"global","window":"hourly","time":"2026-01-01T10:04:07Z"}]})")
            .empty());
    REQUIRE(read.refused.size() == 2);
    CHECK(read.refused[0].series == R"(up{a="x\\y\""})");
    CHECK(read.refused[0].window == count_window::day);
    CHECK(read.refused[0].tenant == "t");
    CHECK(read.refused[1].series == "up");
    CHECK(read.refused[1].window == count_window::hour);
}

TEST_CASE("of a very long text both ends are kept, and no character is cut") {
    const auto talkers_of = [](const std::string& value) {
        figures read;
        REQUIRE(take_top_entries(
                    read,
                    R"({"data":[{"value":")" + value + R"(","series":1,"error":0,"lastSeen":"2026-01-01T00:00:00Z"}]})",
                    "job")
                    .empty());
        return read.top[0].value;
    };
    const std::string longest(8192, 'a');
    CHECK(talkers_of(longest) == longest);
    CHECK(talkers_of(longest + "bc") == std::string(4096, 'a') + "..." + std::string(4094, 'a') + "bc");
    std::string wide = "a";
    for (int i = 0; i < 4096; ++i) wide += "\xe6\x97\xa5";
    const std::string cut = talkers_of(wide);
    CHECK(cut.size() <= 8195);
    CHECK(cut.find("\xe6\x97\xa5...\xe6\x97\xa5") != std::string::npos);
}

TEST_CASE("what is no answer of a gate is said so") {
    figures read;
    const std::string deep(100, '[');
    const std::string no_time = R"({"data":[{"value":"v","series":5,"error":2,"lastSeen":"2026-13-01T10:04:07Z"}]})";
    for (const std::string& wrong : {std::string{}, std::string{"<html>"}, std::string{"{}"}, std::string{"[]"}, deep,
                                     std::string{R"({"data":[1]})"}, no_time}) {
        CAPTURE(wrong);
        CHECK(take_stats(read, wrong) == "/stats: the answer is not that of a seriesgate");
        CHECK(take_findings(read, wrong) == "/api/v1/findings: the answer is not that of a seriesgate");
        CHECK(take_top_entries(read, wrong, "metric") == "/api/v1/top: the answer is not that of a seriesgate");
        CHECK(take_refused(read, wrong) == "/api/v1/refused: the answer is not that of a seriesgate");
    }
}

TEST_CASE("an error says what it is") {
    CHECK(error_in(R"({"status":"error","errorType":"bad_data","error":"by: no"})") == "by: no");
    CHECK(error_in("busy").empty());
    CHECK(error_in("[]").empty());
}
