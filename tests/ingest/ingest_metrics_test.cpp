#include "ingest/ingest_metrics.hpp"

#include "base/metrics.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::ingest_metrics_test {
namespace {

std::string written(const limit_counters& counters) {
    exposition out;
    counters.write(out, "refused_total", "Refused.");
    return out.take();
}

bool shows(const limit_counters& counters, const std::string& tenant, std::uint64_t amount) {
    return written(counters).find("{limit=\"tenant\",tenant=\"" + tenant + "\"} " + std::to_string(amount) + "\n") !=
           std::string::npos;
}

/// As many as there may be.
void fill(limit_counters& counters, limit_counters::clock::time_point now) {
    for (std::size_t i = 0; i < 1000; ++i) counters.add("tenant", "made-up-" + std::to_string(i), 1, now);
}

std::size_t size_of(const limit_table<int>& table) {
    std::size_t size = 0;
    table.for_each([&](std::string_view, std::string_view, int) { ++size; });
    return size;
}

TEST_CASE("made-up names of tenants keep others out for no longer than they come") {
    limit_counters counters;
    limit_counters::clock::time_point now{1h};
    fill(counters, now);
    counters.add("tenant", "shop", 5, now);
    CHECK(shows(counters, "__other__", 5));
    CHECK_FALSE(shows(counters, "shop", 5));

    now += limit_counters::idle_min;
    counters.add("tenant", "shop", 7, now);
    CHECK(shows(counters, "shop", 7));
    CHECK_FALSE(shows(counters, "made-up-1", 1));
    CHECK(counters.total() == 7);
}

TEST_CASE("a tenant that goes on coming keeps its count") {
    limit_counters counters;
    limit_counters::clock::time_point now{1h};
    fill(counters, now);
    now += 6min;
    counters.add("tenant", "made-up-7", 1, now);
    now += 6min;
    counters.add("tenant", "shop", 1, now);
    CHECK(shows(counters, "made-up-7", 2));
    CHECK(shows(counters, "shop", 1));
    CHECK(counters.total() == 3);
}

TEST_CASE("nobody makes room while there is some") {
    limit_counters counters;
    counters.add("tenant", "shop", 1, limit_counters::clock::time_point{1h});
    counters.add("tenant", "other", 1, limit_counters::clock::time_point{100h});
    CHECK(shows(counters, "shop", 1));
}

TEST_CASE("it is looked for room at most once a minute") {
    limit_counters counters;
    limit_counters::clock::time_point now{1h};
    fill(counters, now);
    now += limit_counters::idle_min - 1s;
    counters.add("tenant", "early", 1, now);
    now += 1s;
    counters.add("tenant", "soon", 1, now);
    CHECK(shows(counters, "__other__", 2));
    now += limit_counters::look_interval;
    counters.add("tenant", "later", 1, now);
    CHECK(shows(counters, "later", 1));
}

TEST_CASE("each pair is told with the time of its last amount, but for tenants that share one") {
    limit_counters counters;
    const limit_counters::clock::time_point now{1h};
    CHECK(counters.last_occasions().empty());
    counters.add("global", "", 1, now);
    counters.add("per-job", "shop", 2, now + 1s);
    counters.add("global", "", 3, now + 2s);
    const auto all = counters.last_occasions();
    REQUIRE(all.size() == 2);
    CHECK(all[0].limit == "global");
    CHECK(all[0].tenant.empty());
    CHECK(all[0].last == now + 2s);
    CHECK(all[1].limit == "per-job");
    CHECK(all[1].tenant == "shop");
    CHECK(all[1].last == now + 1s);

    fill(counters, now);  // two of them find no room
    CHECK(counters.last_occasions().size() == 1000);
}

TEST_CASE("a thousand pairs have a value of their own, and the others share one for each limit") {
    limit_table<int> table;
    for (int i = 0; i < 600; ++i)
        for (const char* limit : {"global", "tenant"}) table.at(limit, std::to_string(i)) += 1;
    CHECK(size_of(table) == 1002);
    CHECK(table.at("global", "499") == 1);
    CHECK(table.at("global", "500") == 100);
    CHECK(table.at("tenant", "500") == 100);
    table.at("third", "1");
    table.at("third", "2");
    CHECK(size_of(table) == 1003);

    SECTION("who goes makes room for one of its own") {
        table.at("global", "7") = 70;
        table.erase_if([](int value) { return value == 70; });
        CHECK(size_of(table) == 1002);
        CHECK(table.at("global", "new") == 0);
        CHECK(table.at("global", "newer") == 100);
    }
    SECTION("the shared ones make none") {
        table.erase_if([](int value) { return value == 100; });
        CHECK(size_of(table) == 1001);
        table.at("global", "new") = 5;
        CHECK(table.at("global", "newer") == 5);
    }
    SECTION("all gone, it begins afresh") {
        table.erase_if([](int) { return true; });
        CHECK(size_of(table) == 0);
        CHECK(table.at("global", "new") == 0);
    }
}

TEST_CASE("counters are written with limit and tenant, whatever bytes those are made of") {
    limit_counters counters;
    counters.add("global", "", 3);
    counters.add("per-pod", "a\"b\xff", 4);
    counters.add("global", "", 2);
    CHECK(counters.total() == 9);
    exposition out;
    counters.write(out, "refused_total", "Help.");
    CHECK(out.text() ==
          "# HELP refused_total Help.\n# TYPE refused_total counter\n"
          "refused_total{limit=\"global\",tenant=\"\"} 5\n"
          "refused_total{limit=\"per-pod\",tenant=\"a\\\"b\\\\xff\"} 4\n");
}

}  // namespace
}  // namespace seriesgate::testing::ingest_metrics_test
