#include "admin/api.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <random>

#include "limit/explain.hpp"
#include "limit/figures.hpp"
#include "series/label.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::stats_test {
namespace {

const process_facts process{.version = "1.2.3", .uptime = 12s};

limiter_figures figures_of_three() {
    const auto start = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1} + 10h;
    limiter_figures figures;
    figures.hourly = {.span = {start, start + 1h},
                      .series_max = 1'000'000,
                      .series_current = 7,
                      .series_refused = 1,
                      .samples_refused = 1,
                      .series_over_limit = 6,
                      .series_cut = 2,
                      .false_positive_rate = 0.5,
                      .filter_bytes = 65536};
    figures.daily.span = {start - 10h, start + 14h};
    figures.exempt_hourly = 3;
    figures.exempt_daily = 4;
    figures.tenants.push_back({.name = {.limit = {}, .tenant = "a", .has_tenant = true, .group = {}},
                               .mode = limit_mode::observe,
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
    return figures;
}

gate_counts some_counts() {
    return {
        .requests = {.total = 9,
                     .rejected = 2,
                     .upstream_errors = 3,
                     .unconfirmed = 1,
                     .partly_written = 2,
                     .by_status = {{"204", 6}, {"other", 3}},
                     .upstream_by_status = {{"204", 6}},
                     .rejected_by_reason = {{"malformed", 2}, {"loop", 0}},
                     .upstream_errors_by_reason = {{"timeout", 3}}},
        .samples = {.received = 9, .accepted = 8, .refused = 1, .left_out = 2, .stored = 7, .failed = 1},
        .dropped = {.unknown_entries = 4,
                    .left_out_series = {{"label_too_long", 2}},
                    .untranslated_series = 5,
                    .untranslated_histograms = 6},
        .connections = {.open = 2,
                        .accepted = 3,
                        .given_up_by_reason = {{"max_connections", 1}},
                        .turned_away_by_reason = {{"max_connections", 0}}},
        .stores = {{.name = "a",
                    .waiting = 7,
                    .backends = {{.name = "a", .in_flight = 1, .connections = 2, .requests = 3, .errors = 1},
                                 {.name = "b", .is_up = false}}},
                   {.name = "c", .is_replica = true, .best_effort = true, .samples_stored = 8, .samples_failed = 9}}};
}

std::string stats(const budget_choice& asked) {
    limiter_figures figures = figures_of_three();
    for (auto* const list : {&figures.tenants, &figures.limits})
        std::erase_if(*list, [&](const budget_figures& each) { return !asked.takes(each.name); });
    return stats_json(process, some_counts(), figures, asked.shown_max);
}

constexpr std::string_view head_text =
    R"({"schemaVersion":1,"version":"1.2.3","uptimeSeconds":12,"mode":"enforce","clockInDoubt":false,)"
    R"("requests":{"total":9,"rejected":2,"upstreamErrors":3,"unconfirmed":1,"partlyWritten":2,"byStatus":{"204":6,"other":3},)"
    R"("upstreamByStatus":{"204":6},)"
    R"("rejectedByReason":{"malformed":2,"loop":0},"upstreamErrorsByReason":{"timeout":3}},)"
    R"("samples":{"received":9,"accepted":8,"refused":1,"leftOut":2,"stored":7,"failed":1},)"
    R"("delivery":{"text":"No sample went to the store in the last five minutes","stored":0,"failed":0,)"
    R"("nothingStoredSince":null},)"
    R"("refusals":{"watchedSince":"1970-01-01T00:00:00Z","lastRefused":null,"samplesByMinute":[)"
    R"(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,)"
    R"(0,0,0]},)"
    R"("dropped":{"unknownEntries":4,"leftOutSeries":{"label_too_long":2},"untranslatedSeries":5,"untranslatedHistograms":6},)"
    R"("connections":{"open":2,"accepted":3,"givenUpByReason":{"max_connections":1},)"
    R"("turnedAwayByReason":{"max_connections":0}},)"
    R"("upstreams":[{"store":"a","waiting":7,"doors":[)"
    R"({"door":"a","up":true,"inFlight":1,"connections":2,"requests":3,"errors":1},)"
    R"({"door":"b","up":false,"inFlight":0,"connections":0,"requests":0,"errors":0}]},)"
    R"({"store":"c","waiting":0,"doors":[],)"
    R"("replica":{"bestEffort":true,"samplesStored":8,"samplesFailed":9}}],)"
    R"("windows":{"hourly":{"start":"2026-01-01T10:00:00Z","end":"2026-01-01T11:00:00Z","maxSeries":1000000,)"
    R"("currentSeries":7,"refusedSeries":1,"refusedSeriesExact":true,"refusedSamples":1,"overLimitSeries":6,"cutSeries":2,)"
    R"("falsePositiveRate":5E-1,"filterBytes":65536},)"
    R"("daily":{"start":"2026-01-01T00:00:00Z","end":"2026-01-02T00:00:00Z","maxSeries":0,)"
    R"("currentSeries":0,"refusedSeries":0,"refusedSeriesExact":true,"refusedSamples":0,"overLimitSeries":0,"cutSeries":0,)"
    R"("falsePositiveRate":0E0,"filterBytes":0}},)"
    R"("exempt":{"hourlySeries":3,"dailySeries":4},)";

constexpr std::string_view tenant_text =
    R"({"tenant":"a","mode":"observe","hourly":{"maxSeries":5,"currentSeries":3,"refusedSeries":1,"refusedSeriesExact":true},)"
    R"("daily":{"maxSeries":0,"currentSeries":0,"refusedSeries":0,"refusedSeriesExact":true}})";
constexpr std::string_view namespace_text =
    R"({"name":"per-namespace","group":{"namespace":"x\""},"mode":"observe",)"
    R"("hourly":{"maxSeries":2,"currentSeries":2,"refusedSeries":9,"refusedSeriesExact":true},)"
    R"("daily":{"maxSeries":0,"currentSeries":11,"refusedSeries":0,"refusedSeriesExact":true}})";
constexpr std::string_view paths_text =
    R"({"name":"paths","tenant":"a","group":{},"mode":"enforce",)"
    R"("hourly":{"maxSeries":0,"currentSeries":0,"refusedSeries":0,"refusedSeriesExact":true},)"
    R"("daily":{"maxSeries":0,"currentSeries":0,"refusedSeries":0,"refusedSeriesExact":true}})";

std::string whole(std::string_view tenants, std::string_view limits) {
    return std::string{head_text}.append(tenants).append(",").append(limits).append("}");
}

std::string list(std::string_view name, int total, std::initializer_list<std::string_view> entries) {
    std::string text = fmt::format(R"("{}Total":{},"{}":[)", name, total, name);
    for (const auto entry : entries) text.append(text.ends_with('[') ? "" : ",").append(entry);
    return text + "]";
}

budget_choice read(std::string_view query) {
    const auto asked = read_api_question(api_path::stats, query, {});
    INFO(query);
    REQUIRE(asked.has_value());
    return choice_of(*asked);
}

std::string fault_of(std::string_view query) {
    const auto asked = read_api_question(api_path::stats, query, {});
    INFO(query);
    REQUIRE_FALSE(asked.has_value());
    return asked.error();
}

TEST_CASE("stats have the documented keys, in order, and those with the most demand first") {
    const std::string tenants = list("tenants", 1, {tenant_text});
    CHECK(stats({}) == whole(tenants, list("limits", 2, {namespace_text, paths_text})));
    CHECK(stats({.shown_max = 1}) == whole(tenants, list("limits", 2, {namespace_text})));
    CHECK(stats({.shown_max = 0}) == whole(list("tenants", 1, {}), list("limits", 2, {})));
}

TEST_CASE("stats say whether refusals go on, which counts are estimates, and what many share") {
    gate_counts counts = some_counts();
    counts.delivery.last_refused = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1} + 10h;
    counts.delivery.refused_by_minute.back() = 12;
    limiter_figures figures = figures_of_three();
    figures.hourly.refused_is_exact = figures.limits[0].daily.refused_is_exact = false;
    figures.limits[0].name.overflow = true;
    figures.tenants[0].name.overflow = true;
    const std::string text = stats_json(process, counts, figures, 9);
    const auto has = [&text](std::string_view part) { return text.find(part) != std::string::npos; };
    CHECK(has(R"("lastRefused":"2026-01-01T10:00:00Z","samplesByMinute":[0,)"));
    CHECK(has(R"(0,12]},"dropped")"));
    CHECK(has(R"("refusedSeries":1,"refusedSeriesExact":false,"refusedSamples")"));
    CHECK(has(R"("refusedSeriesExact":false},"note":"shared by all groups beyond maxGroups of the limit: )"));
    CHECK(has(R"("note":"shared by all tenants beyond tenants.maxTenants: )"));
    budget_name exempt = figures.limits[0].name;
    exempt.limit = "exempt";
    CHECK(note_on(exempt).starts_with("shared by all tenants beyond tenants.maxTenants: "));
}

TEST_CASE("stats of a gate in a fleet say how that stands, and those of others say nothing of it") {
    const auto text = [](const gate_counts& counts) { return stats_json(process, counts, {}, 9); };
    gate_counts counts = some_counts();
    CHECK(text(counts).find("shared") == std::string::npos);
    counts.shared = shared_counts{.state = "joined",
                                  .name_space = "shop",
                                  .gates = {{.name = "gate-1", .version = "1.2.3", .seen_seconds_ago = 0},
                                            {.name = "gate-2", .version = "1.2.2", .seen_seconds_ago = 61}},
                                  .counts = {{"claims", 8}, {"known", 100}, {"waiting", 2}},
                                  .clock_offset_seconds = -1.5,
                                  .latency_seconds = 0.25};
    CHECK(
        text(counts).find(
            R"("shared":{"state":"joined","namespace":"shop","gates":[)"
            R"({"name":"gate-1","version":"1.2.3","seenSecondsAgo":0},)"
            R"({"name":"gate-2","version":"1.2.2","seenSecondsAgo":61}],)"
            R"("claims":8,"known":100,"waiting":2,"clockOffsetSeconds":-1.5E0,"latencySeconds":2.5E-1},"windows":{)") !=
        std::string::npos);
}

TEST_CASE("stats of a tenant have its own budget and those that limits have for it") {
    CHECK(stats({.tenant = "a"}) == whole(list("tenants", 1, {tenant_text}), list("limits", 1, {paths_text})));
    CHECK(stats({.shown_max = 0, .tenant = "a"}) == whole(list("tenants", 1, {}), list("limits", 1, {})));
    CHECK(stats({.tenant = "b"}) == whole(list("tenants", 0, {}), list("limits", 0, {})));
    // A limit for all tenants together has no tenant, which is not the tenant without a name.
    CHECK(stats({.tenant = ""}) == whole(list("tenants", 0, {}), list("limits", 0, {})));
}

TEST_CASE("stats of a limit have its budgets alone") {
    CHECK(stats({.limit = "per-namespace"}) == whole(list("tenants", 0, {}), list("limits", 1, {namespace_text})));
    CHECK(stats({.tenant = "a", .limit = "paths"}) == whole(list("tenants", 0, {}), list("limits", 1, {paths_text})));
    CHECK(stats({.tenant = "a", .limit = "per-namespace"}) == whole(list("tenants", 0, {}), list("limits", 0, {})));
}

TEST_CASE("arguments of /stats combine, in any order and however their letters are written") {
    CHECK(read("") == budget_choice{});
    CHECK(read("limit=7") == budget_choice{.shown_max = 7});
    CHECK(read("lim%69t=18446744073709551615") == budget_choice{});
    CHECK(read("&name=per.job_and-tenant&&limit=0&tenant=team-a") ==
          budget_choice{.shown_max = 0, .tenant = "team-a", .limit = "per.job_and-tenant"});
}

TEST_CASE("a tenant is named by its bytes, and found as /stats shows it") {
    CHECK(read("tenant=") == budget_choice{.tenant = ""});
    CHECK(read("tenant") == budget_choice{.tenant = ""});
    CHECK(read("tenant=a+b%20c%2Bd%26e") == budget_choice{.tenant = "a b c+d&e"});
    CHECK(read("tenant=%ff") == budget_choice{.tenant = "\\xff"});
    CHECK(read("tenant=\\xff") == budget_choice{.tenant = "\\\\xff"});
    CHECK(read("tenant=caf%C3%A9") == budget_choice{.tenant = "caf\xc3\xa9"});
    CHECK(read("tenant=" + std::string(1024, 'x')).tenant == std::string(1024, 'x'));
}

TEST_CASE("a tenant of any bytes is asked for by their hexadecimal numbers") {
    std::mt19937 random{5};
    for (int round = 0; round < 500; ++round) {
        std::string name(random() % 40, '\0');
        for (char& c : name) c = static_cast<char>(random());
        std::string query = "tenant=";
        for (const char c : name) query += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        CHECK(read(query).tenant == readable(name));
    }
}

TEST_CASE("what is wrong with a question is said, and what is possible") {
    const std::string possible =
        "; /stats takes limit=N, tenant=NAME and name=NAME of a limit, each once at most and percent-encoded";
    const std::string number = "limit: expected a whole number, how many entries each list may have";
    for (const auto* query : {"limit=", "limit", "limit=-1", "limit=+1", "limit=1.5", "limit=x", "limit=%201",
                              "limit=99999999999999999999", "limit=1%00"})
        CHECK(fault_of(query) == number + possible);
    CHECK(fault_of("limit=1&limit=1") == "limit: comes twice" + possible);
    CHECK(fault_of("tenant=a&limit=1&tenant=") == "tenant: comes twice" + possible);
    CHECK(fault_of("Limit=1") == "unknown argument \"Limit\"" + possible);
    CHECK(fault_of("limit=1&=2") == "unknown argument \"\"" + possible);
    CHECK(fault_of("tenant=" + std::string(1025, 'x')) == "tenant: expected a name of at most 1024 bytes" + possible);
    for (const std::string& query : {std::string{"name="}, "name=" + std::string(101, 'x')})
        CHECK(fault_of(query) == "name: expected the name of one of limits, of at most 100 bytes" + possible);
    for (const auto* query : {"limit=1;tenant=a", "tenant=%f", "tenant=%zz", "tenant=a#b"})
        CHECK(fault_of(query) ==
              "the query has a ';', a '#', or a '%' without two hexadecimal digits behind it" + possible);
}

TEST_CASE("an argument that nobody knows is told in one short line, whatever it is made of") {
    const std::string fault = fault_of("%0a%22%ff" + std::string(60'000, 'x') + "=1");
    CHECK(fault.starts_with(R"(unknown argument "\x0a\"\xffxxx)"));
    CHECK(fault.size() < 250);
}

}  // namespace
}  // namespace seriesgate::testing::stats_test
