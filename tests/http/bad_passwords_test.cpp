#include "http/passwords.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace bad_passwords_test {
namespace {

digest number(std::size_t value) {
    digest made{};
    for (std::size_t i = 0; i < 8; ++i) made[i] = static_cast<unsigned char>(value >> 8 * i);
    return made;
}

constexpr bad_passwords::clock::time_point start{1h};

}  // namespace

TEST_CASE("what was wrong is remembered for a while") {
    bad_passwords bad;
    bad.insert(number(1), start);
    bad.insert(number(2), start + 30s);
    CHECK(bad.contains(number(1), start + 60s - 1ns));
    CHECK_FALSE(bad.contains(number(3), start));
    CHECK_FALSE(bad.contains(number(1), start + 60s));
    CHECK(bad.contains(number(2), start + 60s));
    CHECK(bad.size() == 1);
    CHECK_FALSE(bad.contains(number(2), start + 90s));
    CHECK(bad.size() == 0);
}

TEST_CASE("who comes again with the same wrong password makes it last no longer") {
    bad_passwords bad;
    bad.insert(number(1), start);
    bad.insert(number(1), start + 59s);
    CHECK(bad.size() == 1);
    CHECK_FALSE(bad.contains(number(1), start + 60s));
}

TEST_CASE("of too many wrong passwords the oldest are forgotten") {
    bad_passwords bad;
    for (std::size_t i = 0; i < 3 * bad_passwords::kept_max; ++i) bad.insert(number(i), start);
    CHECK(bad.size() == bad_passwords::kept_max);
    CHECK_FALSE(bad.contains(number(2 * bad_passwords::kept_max - 1), start));
    CHECK(bad.contains(number(2 * bad_passwords::kept_max), start));
}

}  // namespace bad_passwords_test
