#include "admin/api.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>

#include "limit/limiter.hpp"
#include "support/catch.hpp"
#include "support/cpu_time.hpp"

namespace seriesgate::testing::api_json_test {
namespace {

namespace json = boost::json;

const time_point ten = std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + std::chrono::hours{10};

json::object answer(const std::optional<explanation>& said) {
    const series_limiter limiter{{.global = {.hourly = 3, .daily = 0}}, ten};
    const json::value made = json::parse(explain_json(limiter, {{"__name__", "up"}, {"a", "\x1b"}}, "t\xff", said));
    CHECK(made.at("status") == "success");
    return made.at("data").as_object();
}

explanation refused_by_the_gate() {
    explanation of{.hour = hour_of(ten), .day = day_of(ten)};
    of.refused = refusal{.how = verdict::refused_hourly, .limit = global_limit};
    of.budgets.push_back({.figures = {}, .spent = {.hour = true, .day = false}, .hourly_room = 0});
    of.budgets[0].figures.hourly.series_max = 3;
    of.budgets[0].figures.hourly.series_current = 3;
    return of;
}

boost::json::object asked(refused_ring& refused, std::string match) {
    return boost::json::parse(refused_json(refused, {.shown_max = 1'000, .match = std::move(match)})).as_object();
}

/// Series whose values are as long as any may be.
void fill(refused_ring& refused, std::size_t value_bytes) {
    for (std::uint64_t i = 0; i < 100; ++i)
        refused.put(i, {.labels = {{"__name__", "m"}, {"long", std::string(value_bytes, 'a') + std::to_string(i)}}});
}

TEST_CASE("a series that asks too much of the rules would be rejected, and nothing is said of its budgets") {
    const json::object said = answer(std::nullopt);
    CHECK(said.at("decision") == "rejected");
    CHECK(said.at("why") == "its labels ask too much of the rules: a request with them is answered 400");
    CHECK(said.at("series") == R"(up{a="\x1b"})");
    CHECK(said.at("tenant") == R"(t\xff)");
    CHECK(said.size() == 4);
}

TEST_CASE("a refusal names the budget and what it has") {
    const json::object said = answer(refused_by_the_gate());
    CHECK(said.at("decision") == "refused");
    CHECK(said.at("why") == "maxHourlySeries 3 is spent (3 series admitted)");
    CHECK(said.at("refusedBy") == json::value{{"limit", "global"}, {"window", "hourly"}});
    CHECK(said.at("budgets").at(0).at("hourly").at("room") == 0);
    CHECK(said.at("budgets").at(0).at("daily").at("room").is_null());
}

TEST_CASE("a limit that has gone since it refused is named all the same") {
    explanation of = refused_by_the_gate();
    of.refused_lately = of.refused = refusal{.how = verdict::refused_daily, .limit = other_limit};
    CHECK(answer(of).at("why") ==
          "refused lately, which is remembered until there may be room again: limit __other__, daily");
}

TEST_CASE("in a fleet it is said who decides") {
    explanation of = refused_by_the_gate();
    of.asks_store = true;
    const json::object said = answer(of);
    CHECK(said.at("storeDecides") == true);
    CHECK(said.at("why") ==
          "maxHourlySeries 3 is spent (3 series admitted); this is what this gate knows, and the store "
          "of its fleet decides");
}

/// Series of a metric, each with an id of its own.
struct series_with_ids : label_source {
    std::string metric = "m";
    std::vector<std::string> ids{};
    std::vector<label_view> shown{};

    std::span<const label_view> labels(std::size_t entry) override {
        return shown = {{"__name__", metric}, {"id", ids[entry]}};
    }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {}; }

    void note(cardinality_tracker& into, std::uint64_t count, const std::string& tenant, std::uint64_t first = 0) {
        std::vector<std::uint64_t> fingerprints;
        ids.clear();
        for (std::uint64_t i = first; i < first + count; ++i) {
            ids.push_back(fmt::format("{}-{}", tenant, i));
            fingerprints.push_back(hash_key::known_to_all()(metric + ids.back()));
        }
        into.note(series_event::refused, fingerprints, *this, {.tenant = tenant}, ten);
    }
};

TEST_CASE("a tenant has its finding, whoever else has larger ones") {
    cardinality_tracker tracker{{}, hash_key::known_to_all(), ten};
    series_with_ids series;
    for (std::uint64_t n = 0; n < 12; ++n) series.note(tracker, 1'100 + 10 * n, fmt::format("t{}", n));
    const auto found = [&](const std::optional<std::string>& tenant, std::uint64_t shown_max) {
        const status_facts facts{.now = std::chrono::floor<std::chrono::seconds>(ten)};
        const api_question asked{.tenant = tenant, .shown_max = shown_max};
        return json::parse(findings_json(tracker, asked, facts)).at("data").as_array().size();
    };
    CHECK(found("t0", 10) == 1);
    CHECK(found("t11", 10) == 1);
    CHECK(found("t0", 0) == 0);
    CHECK(found({}, 1'000) == 10);
}

TEST_CASE("labels of a metric that came back to the table may be as wrong as the metric") {
    cardinality_tracker tracker{{}, hash_key::known_to_all(), ten};
    series_with_ids series;
    for (std::size_t n = 0; n <= watched_metrics::metrics_max; ++n) {
        series.metric = fmt::format("m{}", n);
        series.note(tracker, n == 0 ? 40 : 41, "");
    }
    series.metric = "m0";
    series.note(tracker, 1, "", 40);
    const json::value said =
        json::parse(top_json(tracker, {.kind = series_event::refused, .by = "label", .shown_max = 1'000}));
    for (const json::value& each : said.at("data").as_array())
        if (each.at("metric") == "m0")
            CHECK(each.at("series").to_number<int>() + each.at("error").to_number<int>() >= 41);
}

TEST_CASE("a question about refused series costs no more than it may") {
    refused_ring refused;
    fill(refused, 60'000);
    std::string match = "{long=~\"";
    for (int i = 0; i < 60; ++i) match += "(a?b?c?){9}";
    boost::json::object answer;
    CHECK(testing::cpu_seconds_of([&] { answer = asked(refused, match + "x\"}"); }) < 2);
    CHECK(answer.at("data").as_array().empty());
    CHECK(answer.at("warnings").at(0).as_string().starts_with("match asks for too much work: the last "));
}

TEST_CASE("an answer that is full says so") {
    refused_ring refused;
    fill(refused, 60'000);
    const auto answer = asked(refused, "m");
    CHECK(answer.at("data").as_array().size() == 70);  // of 4 MiB
    CHECK(answer.at("warnings").at(0) == "the answer is full: the last 70 of 100 series were looked at");
}

TEST_CASE("a question that costs what questions cost is answered whole") {
    refused_ring refused;
    fill(refused, 100);
    const auto answer = asked(refused, "{long=~\".*7\"}");
    CHECK(answer.at("data").as_array().size() == 10);
    CHECK_FALSE(answer.contains("warnings"));
}

}  // namespace
}  // namespace seriesgate::testing::api_json_test
