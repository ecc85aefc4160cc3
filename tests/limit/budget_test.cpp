#include "limit/budget.hpp"

#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using seriesgate::budget;
using seriesgate::limit_mode;
using seriesgate::standing;
using seriesgate::testing::fingerprint_of;

namespace {

/// Takes while there is room, at most `count`. @return how many had room.
std::uint64_t take(budget& counted, std::uint64_t count, standing of) {
    std::uint64_t taken = 0;
    for (; taken < count && counted.has_room(of); ++taken) counted.take(of, limit_mode::enforce);
    return taken;
}

constexpr auto candidate = standing::new_series;
constexpr auto incumbent = standing::incumbent;

}  // namespace

TEST_CASE("a budget has room for exactly its maximum") {
    const auto max = GENERATE(std::uint64_t{1}, 2, 1'000);
    budget counted{max};
    CHECK(counted.limits());
    CHECK(take(counted, 5'000, candidate) == max);
    CHECK(counted.current() == max);
    CHECK_FALSE(counted.has_room(incumbent));
}

TEST_CASE("a maximum of zero counts without limiting") {
    budget counted{0};
    CHECK_FALSE(counted.limits());
    counted.reserve(10);
    CHECK(take(counted, 5'000, candidate) == 5'000);
    CHECK(take(counted, 5'000, incumbent) == 5'000);
    CHECK(counted.current() == 10'000);
}

TEST_CASE("newcomers get what the incumbents leave") {
    budget counted{100};
    counted.reserve(70);
    SECTION("incumbents first") {
        CHECK(take(counted, 70, incumbent) == 70);
        CHECK(take(counted, 1'000, candidate) == 30);
    }
    SECTION("an incumbent that returns changes nothing for newcomers") {
        CHECK(take(counted, 10, candidate) == 10);
        for (int returned = 0; returned < 70; ++returned) {
            REQUIRE(counted.has_room(incumbent));
            counted.take(incumbent, limit_mode::observe);
            CHECK(counted.has_room(candidate));
        }
        CHECK(take(counted, 1'000, candidate) == 20);
    }
    SECTION("a lapsed reservation is room for all") {
        CHECK(take(counted, 20, incumbent) == 20);
        CHECK(take(counted, 1'000, candidate) == 30);
        counted.reserve(0);
        CHECK(take(counted, 1'000, candidate) == 50);
    }
}

TEST_CASE("before the incumbents come newcomers get what they leave, and no number wraps") {
    for (const auto& [expected, newcomers] : {std::pair<std::uint64_t, std::uint64_t>{70, 30}, {100, 0}, {1'000, 0}}) {
        budget counted{100};
        counted.reserve(expected);
        CHECK(take(counted, 1'000, candidate) == newcomers);
        CHECK(take(counted, 1'000, incumbent) == 100 - newcomers);
        CHECK_FALSE(counted.has_room(candidate));
        CHECK(counted.current() == 100);
    }
}

TEST_CASE("more may return than were expected") {
    budget counted{100};
    counted.reserve(10);
    CHECK(take(counted, 15, incumbent) == 15);
    CHECK(take(counted, 1'000, candidate) == 85);
    CHECK(counted.current() == 100);
}

TEST_CASE("a new window begins with nothing counted") {
    budget counted{100};
    take(counted, 100, candidate);
    counted.refuse(fingerprint_of(1));
    counted.refuse(fingerprint_of(2));
    counted.refuse(fingerprint_of(2));
    CHECK(counted.refused_series() == 2);

    counted.restart();
    CHECK(counted.current() == 0);
    CHECK(counted.refused_series() == 0);
    CHECK(counted.max() == 100);
    CHECK(take(counted, 1'000, candidate) == 100);
}

TEST_CASE("a budget that only observes keeps apart what was admitted beyond its maximum") {
    budget counted{10};
    for (int i = 0; i < 25; ++i) counted.take(candidate, limit_mode::observe);
    CHECK(counted.current() == 10);
    CHECK(counted.beyond() == 15);
    // A larger maximum counts them first, none counts all, and a smaller one takes nobody's place away.
    const auto [max, counts, beyond] = GENERATE(table<std::uint64_t, std::uint64_t, std::uint64_t>(
        {{20, 20, 5}, {25, 25, 0}, {26, 25, 0}, {100, 25, 0}, {0, 25, 0}, {5, 10, 15}}));
    counted.set_max(max);
    CHECK(counted.current() == counts);
    CHECK(counted.beyond() == beyond);
    CHECK(counted.has_room(candidate) == (max == 0 || max > 25));
    counted.set_max(100);  // and then all are counted
    CHECK(counted.current() == 25);
    CHECK(counted.beyond() == 0);
}

TEST_CASE("budgets add up, whatever their maxima") {
    budget one{100};
    budget other{5};
    take(one, 30, candidate);
    one.reserve(10);
    for (int i = 0; i < 8; ++i) other.take(candidate, limit_mode::observe);
    other.reserve(20);
    one.refuse(fingerprint_of(1));
    other.refuse(fingerprint_of(1));
    other.refuse(fingerprint_of(2));
    one.absorb(other);
    CHECK(one.max() == 100);
    CHECK(one.current() == 35);
    CHECK(one.beyond() == 3);
    CHECK(one.refused_series() == 2);
    CHECK(take(one, 1'000, candidate) == 100 - 35 - 30);
}
