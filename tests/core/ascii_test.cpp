#include "core/ascii.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "support/catch.hpp"

using namespace seriesgate;

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
