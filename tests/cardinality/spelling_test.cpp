#include "cardinality/remedy.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("texts are spelled by their characters and lengths") {
    CHECK(characters_of({"12", "7", "999"}) == "[0-9]{1,3}");
    CHECK(characters_of({"0a", "ff"}) == "[0-9a-f]{2}");
    CHECK(characters_of({"a-B_9.z:/"}) == "[0-9a-fg-zA-F_.:/-]{9}");
    CHECK(characters_of({"\xc3\xa4"}).empty());
    CHECK(characters_of({"a b"}).empty());
}

TEST_CASE("what all begin and end with stands as it is, but for digits that will change") {
    CHECK(spelling_of({"user-1234", "user-9876"}) == "user-[0-9]{4}");
    CHECK(spelling_of({"t00000123", "t00000999"}) == "t[0-9]{8}");
    CHECK(spelling_of({"/p/12345.html", "/p/99999.html"}) == "/p/[0-9]{5}\\.html");
    CHECK(spelling_of({"aaaa", "bbbbb"}) == "[a-f]{4,5}");
}

TEST_CASE("too few characters that vary tell nothing") {
    CHECK(spelling_of({"v1", "v2"}).empty());
    CHECK(spelling_of({"", "abcd"}).empty());
}
