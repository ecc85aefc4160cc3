#include "http/query_string.hpp"

#include <string>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("arguments are picked by their decoded names and go on as they came") {
    const argument_names names{"extra_label", "a b", "x[]"};
    struct {
        std::string query, text;
        std::size_t left_out;
    } const cases[] = {
        {"", "", 0},
        {"extra_label=a%3Db", "extra_label=a%3Db", 0},
        {"extra%5Flabel=1&extra%5flabel=2&%65xtra_label", "extra%5Flabel=1&extra%5flabel=2&%65xtra_label", 0},
        {"a+b=+&a%20b", "a+b=+&a%20b", 0},
        {"x%5B%5D=1&x[]=2", "x%5B%5D=1&x[]=2", 0},
        {"&&extra_label=1&&&y=2&", "extra_label=1", 1},
        {"extra_labe=1&extra_label2&EXTRA_LABEL&=extra_label&=", "", 5},
        {"extra_label=a=b?c/d", "extra_label=a=b?c/d", 0},
        {"extra_label%00=1&extra_label+=1", "", 2},
        {"extra_label=1;y=2&extra_label=1#&extra_label=%&extra_label=%1&extra_label=%g1&extra_label%=1", "", 6},
        {"extra_label=%3B%23%25", "extra_label=%3B%23%25", 0},
    };
    for (const auto& [query, text, left_out] : cases) {
        const forwarded_query picked = pick_arguments(query, names);
        CHECK(picked.text == text);
        CHECK(picked.left_out == left_out);
    }
    CHECK(pick_arguments("extra_label=1", {}).left_out == 1);
    CHECK(pick_arguments("a=1&extra%5flabel=2&b", {"a"}).left_out_example == "extra%5flabel");
    CHECK(pick_arguments("secret&b=2", {}).left_out_example.empty());
}

TEST_CASE("an argument is one by name and value, not by the look of the query") {
    CHECK(has_argument("v=1", "v", "1"));
    CHECK(has_argument("a&b=c&%76=%31", "v", "1"));
    for (const auto* query : {"", "v", "v=", "v=11", "v=1=", "xv=1", "x=v=1", "v=1;", "V=1", "v=1 ", "v%00=1"})
        CHECK_FALSE(has_argument(query, "v", "1"));
}

TEST_CASE("all arguments are read, in their order, or none") {
    const auto read = read_arguments("b=1&&a+%62=%ff&b&=x&b=1=2");
    REQUIRE(read);
    std::string all;
    for (const auto& [name, value] : *read) all += name + ":" + value + "\n";
    CHECK(all == "b:1\na b:\xff\nb:\n:x\nb:1=2\n");
    CHECK(read_arguments("")->empty());
    for (const auto* query : {"a=1&b=%", "%zz=1&a=1", "a=1;b=2", "a=1#"}) CHECK_FALSE(read_arguments(query));
}
