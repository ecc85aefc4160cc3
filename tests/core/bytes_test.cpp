#include "core/bytes.hpp"

#include <memory>

#include "core/result.hpp"
#include "core/text.hpp"
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

TEST_CASE("letters are equal whatever their case, and nothing else is") {
    CHECK(equal_ignoring_case("", ""));
    CHECK(equal_ignoring_case("Application/X-Protobuf", "application/x-protobuf"));
    CHECK_FALSE(equal_ignoring_case("a", ""));
    CHECK_FALSE(equal_ignoring_case("a", "ab"));
    CHECK_FALSE(equal_ignoring_case("@", "`"));
    CHECK_FALSE(equal_ignoring_case("[", "{"));
    CHECK_FALSE(equal_ignoring_case("\xc4", "\xe4"));
}

TEST_CASE("a comparison stays within both texts") {
    // Exactly as large as their allocations: AddressSanitizer sees a byte too many.
    const std::string upper(32, 'A');
    const std::string lower(32, 'a');
    const std::string_view one{upper.data(), 32};
    const auto copy = std::make_unique<char[]>(32);
    std::copy(lower.begin(), lower.end(), copy.get());
    CHECK(equal_ignoring_case(one, {copy.get(), 32}));
}

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
