#include "ingest/ingest_metrics.hpp"

#include "base/metrics.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

std::size_t size_of(const limit_table<int>& table) {
    std::size_t size = 0;
    table.for_each([&](std::string_view, std::string_view, int) { ++size; });
    return size;
}

}  // namespace

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
