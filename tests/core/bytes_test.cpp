#include "core/bytes.hpp"

#include "core/result.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("a byte range names its part of a body") {
    const bytes_view body = "0123456789";
    CHECK(slice(body, {2, 3}) == "234");
    CHECK(slice(body, {0, 10}) == body);
    CHECK(slice(body, {10, 0}).empty());
    CHECK(byte_range{2, 3}.end() == 5);
    CHECK(byte_range{2, 3} == byte_range{.offset = 2, .size = 3});
}

TEST_CASE("the end of a range fits 32 bits for every body that is handled") {
    const auto last = static_cast<std::uint32_t>(decoded_bytes_limit);
    CHECK(byte_range{last - 1, 1}.end() == last);
    CHECK(byte_range{0, last}.end() == last);
}

TEST_CASE("a result is a value or an error") {
    enum class fault { none, some };
    const result<int, fault> value = 5;
    const result<int, fault> error = fault::some;
    REQUIRE(value.has_value());
    CHECK(*value == 5);
    REQUIRE_FALSE(error.has_value());
    CHECK(error.error() == fault::some);
}
