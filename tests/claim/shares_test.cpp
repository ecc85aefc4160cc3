#include "claim/shares.hpp"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate {
namespace {

using testing::fingerprint_of;
using entry = shares::entry;

constexpr std::int64_t noon = 12 + 24 * 1000;

/// A gate with a share of 10 of a limit of 3,200, and of 2 of one of 640.
struct gate {
    shares own{500, 1000};

    entry take(std::uint64_t series, std::int64_t hour = noon, series_maxima maxima = {.hourly = 3200}) {
        const std::vector<share_charge> charges{{.id = 1, .maxima = maxima}};
        return own.take(fingerprint_of(series), charges, hour);
    }
    /// @return how many of so many others pass
    std::uint64_t passing(std::uint64_t first, std::uint64_t count, std::int64_t hour = noon,
                          series_maxima maxima = {.hourly = 3200}) {
        std::uint64_t passed = 0;
        for (std::uint64_t i = first; i < first + count; ++i) passed += take(i, hour, maxima) == entry::added;
        return passed;
    }
    void settle(std::int64_t hour, std::initializer_list<std::uint64_t> series) {
        std::vector<offered_series> told;
        for (const std::uint64_t each : series) told.push_back({.fingerprint = fingerprint_of(each)});
        own.settle(hour, told);
    }
};

}  // namespace

TEST_CASE("sixteen shares and what claims may take are a maximum") {
    for (const std::uint64_t maximum : {0ull, 1ull, 319ull, 320ull, 3'200ull, 3'519ull, 1'000'000'000'000ull})
        for (const reserve_parts reserve : {0u, 1u, 500u, 5'000u})
            CHECK(claimed_max(maximum, reserve) + 16 * share_of(maximum, reserve) == maximum);
    CHECK(share_of(319, 500) == 0);
    CHECK(share_of(320, 500) == 1);
    CHECK(share_of(3'200, 500) == 10);
    CHECK(share_of(1'000'000, 500) == 3'125);
    CHECK(share_of(1'000'000'000'000, 5'000) == 31'250'000'000);
    CHECK(claimed_max(3'200, 500) == 3'040);
    CHECK(claimed_max(319, 500) == 319);
    // Whoever rounds twice comes to the same: a sixteenth of the reserve.
    for (std::uint64_t maximum = 0; maximum < 5'000; maximum += 7)
        CHECK(share_of(maximum, 730) == maximum * 730 / 10'000 / 16);
}

TEST_CASE("a share lets so many newcomers pass, and each of them again") {
    gate one;
    CHECK(one.passing(0, 5) == 0);  // none has been granted
    one.own.grant(noon, share_state::of_hour);
    CHECK(one.passing(0, 25) == 10);
    CHECK(one.passing(0, 25) == 0);
    CHECK(one.take(3) == entry::there);
    CHECK(one.take(11) == entry::refused);
    CHECK(one.own.owed() == 10);
    CHECK(one.own.owes(fingerprint_of(3), noon));
    CHECK_FALSE(one.own.owes(fingerprint_of(11), noon));
    CHECK_FALSE(one.own.owes(fingerprint_of(3), noon + 1));
}

TEST_CASE("what was taken of a share stays taken when the store has been told") {
    gate one;
    one.own.grant(noon, share_state::of_hour);
    CHECK(one.passing(0, 10) == 10);
    one.settle(noon, {0, 1, 2});
    CHECK(one.own.owed() == 7);
    CHECK(one.take(0) == entry::refused);
    one.settle(noon + 1, {4});  // of another hour
    CHECK(one.own.owed() == 7);
}

TEST_CASE("an hour's share is that of the hour in which the store was heard") {
    gate one;
    one.own.grant(noon, share_state::of_day);
    CHECK(one.own.has_share(noon));
    CHECK(one.passing(0, 4) == 4);
    CHECK(one.take(0, noon + 1) == entry::refused);
    one.own.grant(noon + 1, share_state::not_now);
    CHECK_FALSE(one.own.has_share(noon + 1));
    CHECK(one.own.owed() == 0);
    CHECK(one.take(0, noon + 1) == entry::refused);
    one.own.grant(noon + 1, share_state::of_hour);
    CHECK(one.passing(0, 25, noon + 1) == 10);
    one.own.grant(noon, share_state::of_day);  // an answer that was late
    CHECK(one.take(30) == entry::refused);
    CHECK(one.own.owed() == 10);
}

TEST_CASE("a day's share is for all of the day, and is needed beside that of the hour") {
    gate one;
    const series_maxima both{.hourly = 3200, .daily = 4800};  // shares of 10 and 15
    one.own.grant(noon, share_state::of_hour);
    CHECK(one.passing(0, 25, noon, both) == 0);
    one.own.grant(noon, share_state::of_day);
    CHECK(one.passing(0, 25, noon, both) == 10);
    one.own.grant(noon + 1, share_state::of_hour);  // that of the day it has been given before
    CHECK(one.passing(100, 25, noon + 1, both) == 5);
    one.own.grant(noon + 12, share_state::of_hour);
    CHECK(one.passing(200, 25, noon + 12, both) == 0);
    one.own.grant(noon + 12, share_state::of_day);
    CHECK(one.passing(200, 25, noon + 12, both) == 10);
}

TEST_CASE("a series passes if all that it may count in have room, or takes nothing") {
    gate one;
    one.own.grant(noon, share_state::of_hour);
    const std::vector<share_charge> charges{{.id = 1, .maxima = {.hourly = 3200}},
                                            {.id = 2, .maxima = {.hourly = 640}}};
    const std::vector<share_charge> small{{.id = 1, .maxima = {.hourly = 3200}}, {.id = 3, .maxima = {.hourly = 319}}};
    CHECK(one.own.take(fingerprint_of(1), charges, noon) == entry::added);
    CHECK(one.own.take(fingerprint_of(2), charges, noon) == entry::added);
    CHECK(one.own.take(fingerprint_of(3), charges, noon) == entry::refused);
    CHECK(one.own.take(fingerprint_of(3), small, noon) == entry::refused);
    CHECK(one.passing(10, 25) == 8);
}

TEST_CASE("when limits change there is no share until the store has granted one of the new ones") {
    gate one;
    one.own.grant(noon, share_state::of_day);
    CHECK(one.passing(0, 4) == 4);
    one.own.withdraw();
    CHECK(one.take(5) == entry::refused);
    CHECK(one.take(1) == entry::there);
    one.own.grant(noon, share_state::of_hour);
    CHECK(one.passing(10, 25, noon, {.hourly = 6400}) == 16);
}

TEST_CASE("what is owed is bounded") {
    gate one;
    one.own.grant(noon, share_state::of_hour);
    CHECK(one.passing(0, 2000, noon, {.hourly = 10'000'000}) == 1000);
    one.settle(noon, {0, 1});
    CHECK(one.passing(5000, 5, noon, {.hourly = 10'000'000}) == 2);
}

}  // namespace seriesgate
