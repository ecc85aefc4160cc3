#include "core/base64.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("base64 is what RFC 4648 gives as examples") {
    CHECK(to_base64("").empty());
    CHECK(to_base64("f") == "Zg==");
    CHECK(to_base64("fo") == "Zm8=");
    CHECK(to_base64("foo") == "Zm9v");
    CHECK(to_base64("foob") == "Zm9vYg==");
    CHECK(to_base64("fooba") == "Zm9vYmE=");
    CHECK(to_base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("base64 takes every byte") {
    CHECK(to_base64(std::string{"\0\xff\xfe>?", 5}) == "AP/+Pj8=");
}
