#include "net/field_text.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("white space of HTTP is cut off at both ends") {
    CHECK(trimmed("") == "");
    CHECK(trimmed(" \t ") == "");
    CHECK(trimmed("\t a b ") == "a b");
    CHECK(trimmed("\na\r") == "\na\r");
}

TEST_CASE("a list is read item by item, empty ones left out") {
    std::vector<std::string> items;
    for_each_item(" a,,b c ,\t, d", [&](std::string_view item) {
        items.emplace_back(item);
        return true;
    });
    CHECK(items == std::vector<std::string>{"a", "b c", "d"});
    std::size_t visited = 0;
    for_each_item("a,b", [&](std::string_view) { return ++visited == 0; });
    CHECK(visited == 1);
}

TEST_CASE("names that differ in case are one to the order") {
    CHECK_FALSE(name_before("X-Hop", "x-hop"));
    CHECK_FALSE(name_before("x-hop", "X-Hop"));
    CHECK(name_before("A", "b"));
    CHECK(name_before("a", "B"));
}
