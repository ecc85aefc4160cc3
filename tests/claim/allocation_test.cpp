// A gate of a fleet without memory: what failed is done again, and nothing is lost by it.
#include "support/allocations.hpp"

#include <new>

#include "claim/asking.hpp"
#include "claim/feed_follower.hpp"
#include "claim/untold_walker.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Does it again until there is memory, as event loops do.
/// @param after so many allocations one fails. @return whether there were as many.
template <class Act>
bool without_memory(std::uint64_t after, Act act) {
    const failing_allocation memory{after};
    for (;;) {
        try {
            act();
            return memory.has_failed();
        } catch (const std::bad_alloc&) {
        }
    }
}

}  // namespace

TEST_CASE("without memory each series that has passed is told all the same, and counts in its budgets") {
    const bool refills = GENERATE(false, true);
    constexpr std::uint64_t count = 300;
    std::uint64_t after = 0;
    for (bool has_failed = true; has_failed; ++after) {
        REQUIRE(after < 10'000);
        CAPTURE(after);
        asking gate{three_limits()};
        gate.add({{"team", "red"}, {"job", "a"}}, 0, 100).add({{"team", "blue"}, {"job", "a"}}, 100, count - 100);
        gate.ask();
        gate.commit(gate.decide(decision_outcome::passes));
        untold_walker walker{gate.limiter, hash_key::known_to_all()};
        if (refills) walker.refill(0.4);
        std::vector<std::uint64_t> told;
        told.reserve(10 * count);
        bool counts = true;
        has_failed = without_memory(after, [&] {
            while (const auto call = walker.next()) {
                for (const series_run& run : call->runs) counts = counts && run.budgets.size() == 3;
                told.insert(told.end(), call->fingerprints.begin(), call->fingerprints.end());
                walker.is_told();
            }
        });
        std::ranges::sort(told);
        told.erase(std::unique(told.begin(), told.end()), told.end());
        CHECK(told.size() == count);
        CHECK(counts);
        CHECK(walker.is_clean());
        CHECK_FALSE(walker.refilled());
    }
    CHECK(after > 20);
}

TEST_CASE("without memory what the feed says becomes known all the same") {
    constexpr std::uint64_t own_run = 1, other_run = 2, count = 5'000;
    constexpr feed_follower::steady_point sent{1'000s};
    const time_point now = at(10, 30);
    feed_page page{.state = {.windows = {.hour = hour_number(at(10)), .generation = 1}, .epoch = "epoch"}};
    const feed_page first = page;
    page.state.fed = 3 * count;
    for (std::uint64_t i = 0; i < 3; ++i)
        page.calls.push_back(
            {.upto = (i + 1) * count,
             .run = i == 1 ? own_run : other_run,
             .hour = hour_number(at(10)),
             .runs = {{.windows = {.hour = true}, .fingerprints = fingerprints(i * count, count), .budgets = {0}}},
             .budgets = {{.id = 5, .hourly = (i + 1) * count}}});
    std::uint64_t after = 0;
    for (bool has_failed = true; has_failed; ++after) {
        REQUIRE(after < 10'000);
        CAPTURE(after);
        asking gate{{.global = {.hourly = 100}}};
        feed_follower feed{gate.limiter, gate.view, own_run, 200ms};
        feed_follower::news came;
        feed.read_page(first, sent, now, came);
        feed.has_downloaded();
        // What is asked for after a failure begins behind what has been read.
        std::array<feed_page, 4> pages{page, page, page, first};
        for (std::size_t i = 0; i < 3; ++i)
            pages[i].calls.erase(pages[i].calls.begin(), pages[i].calls.begin() + static_cast<std::ptrdiff_t>(i));
        pages[3].state.fed = 3 * count;
        has_failed = without_memory(after, [&] {
            feed.read_page(pages[feed.read() / count], sent, now, came);
            feed.learn_late(sent + 10s);
        });
        CHECK(came.gaps == 0);
        CHECK(feed.read() == 3 * count);
        CHECK_FALSE(feed.wants_download());
        std::uint64_t known = 0;
        for (std::uint64_t i = 0; i < 3 * count; ++i) known += gate.limiter.hour_has(fingerprint_of(i)) ? 1 : 0;
        CHECK(known == 3 * count);
        CHECK(gate.view.counts_of(5)->hourly == 3 * count);
    }
    CHECK(after > 5);
}

TEST_CASE("without memory a request asks the store again for the same") {
    const auto request = [](asking& gate) -> asking& {
        return gate.add({{"team", "red"}}, 0, 200).add({{"job", "a"}}, 200, 3).add_marker(300);
    };
    asking with_memory{three_limits()};
    const auto asked = request(with_memory).ask();
    const std::vector<store_call> expected{asked.begin(), asked.end()};
    std::uint64_t after = 0;
    for (bool has_failed = true; has_failed; ++after) {
        REQUIRE(after < 10'000);
        CAPTURE(after);
        asking gate{three_limits()};
        request(gate);
        std::span<const store_call> calls;
        has_failed = without_memory(after, [&] { calls = gate.ask(); });
        CHECK(std::ranges::equal(calls, expected));
        gate.answer({.outcome = store_outcome::taken});
        CHECK(gate.decide().pending.size() == 203);
    }
    CHECK(after > 50);
}
