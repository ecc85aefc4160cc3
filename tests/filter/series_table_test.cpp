#include "filter/series_table.hpp"

#include <atomic>
#include <random>
#include <thread>
#include <unordered_map>

#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Does the work of maintenance, as far as it is asked for.
void rewrite_all(series_table& table, std::unique_ptr<series_table::rewrite> one) {
    if (!one) return;
    do table.prepare(*one);
    while (!table.apply(*one));
}

void maintain(series_table& table) {
    for (const std::uint64_t fingerprint : table.doubtful()) rewrite_all(table, table.plan(fingerprint));
    table.free_retired();
}

void insert(series_table& table, std::uint64_t fingerprint, const series_mark& mark) {
    while (!table.find_room(fingerprint)) {
        rewrite_all(table, table.plan_for_room());
        table.free_retired();
    }
    table.insert(fingerprint, mark);
}

/// So many series come; somebody knows about how many. @return how often a partition was made anew.
std::uint64_t fill(series_table& table, std::uint64_t count, std::uint64_t expected) {
    std::uint64_t rewrites = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t one = fingerprint_of(i);
        for (; !table.find_room(one); ++rewrites) {
            rewrite_all(table, table.plan_for_room(expected));
            table.free_retired();
        }
        table.insert(one, {.seen = 10});
    }
    return rewrites;
}

std::uint64_t live_in(const series_table& table) {
    std::uint64_t count = 0;
    for (std::uint64_t next = 0; table.visit_some(next, [&](std::uint64_t, const series_mark&) { ++count; });) {
    }
    return count;
}

}  // namespace

TEST_CASE("a table grows at once to what is expected, and takes no more memory for it") {
    constexpr std::uint64_t count = sanitized ? 100'000 : 1'000'000;
    series_table grown;
    series_table told;
    const std::uint64_t steps = fill(grown, count, 0);
    CHECK(fill(told, count, count) < steps / 3);
    CHECK(live_in(told) == count);
    CHECK(told.bytes() < count * 30 + page_memory::huge_page_bytes);  // of which a small table leaves a part
    series_table misled;  // a little, and by far: nobody expects what cannot be kept
    fill(misled, count, count / 10);
    CHECK(live_in(misled) == count);
    series_table flattered;
    fill(flattered, count / 10, std::uint64_t{1} << 62);
    CHECK(live_in(flattered) == count / 10);
    CHECK(flattered.bytes() < (std::uint64_t{1} << 30));
}

namespace {

void end_activity(series_mark& of) {
    of.combination = 0;
    of.is_outdated = false;
}

/// In the table and in its model: of series last seen before, and all become outdated if wished.
void end_activity(series_table& table, std::unordered_map<std::uint64_t, series_mark>& model, minute_number before,
                  bool outdates) {
    std::multiset<combination_number> expected;
    for (auto& [fingerprint, mark] : model) {
        if (mark.seen < table.live_since() || mark.combination == 0) continue;
        if (mark.seen < before) {
            expected.insert(mark.combination);
            end_activity(mark);
        }
        mark.is_outdated |= outdates && mark.combination != 0;
    }
    std::multiset<combination_number> ended;
    std::uint64_t next = 0;
    const auto note = [&ended](combination_number each) { ended.insert(each); };
    for (bool more = true; more;) {
        const std::size_t ended_before = ended.size();
        more = table.end_activity_some(next, before, outdates, note);
        REQUIRE(ended.size() - ended_before <= series_table::ended_at_once);
    }
    REQUIRE(ended == expected);
}

}  // namespace

TEST_CASE("a table of series knows what a map knows") {
    const auto seed = GENERATE(range(1, 9));
    CAPTURE(seed);
    std::mt19937_64 dice{static_cast<std::uint64_t>(seed)};
    series_table table;
    std::unordered_map<std::uint64_t, series_mark> model;
    std::vector<std::uint64_t> all{0, 2, ~std::uint64_t{0}};
    minute_number now = 1'000;
    for (int step = 0; step < 60'000; ++step) {
        const bool is_new = dice() % 4 == 0;
        // Narrow fingerprints fill one partition; they take every growth there is.
        if (is_new) all.push_back(seed % 2 == 0 ? dice() : dice() >> 4);
        const std::uint64_t one = is_new ? all.back() : all[dice() % all.size()];
        const auto known = model.find(one);
        const bool is_known = known != model.end() && known->second.seen >= table.live_since();
        if (dice() % 2 == 0) {
            const auto combination = static_cast<combination_number>(dice() % 4 * (series_mark::combination_max / 3));
            const series_mark mark{.seen = now,
                                   .was_before = dice() % 2 == 0,
                                   .is_day_key = dice() % 2 == 0,
                                   .combination = combination,
                                   .is_outdated = combination != 0 && dice() % 4 == 0};
            insert(table, one, mark);
            model[one] = mark;
        } else if (is_known && dice() % 8 == 0) {
            REQUIRE(table.deactivate(one) == known->second.combination);
            end_activity(known->second);
        } else {
            const minute_number from = now - static_cast<minute_number>(dice() % 50);
            const bool is_within =
                is_known && known->second.seen >= from && known->second.combination != 0 && !known->second.is_outdated;
            // What was forgotten may still be there; nobody asks for it.
            if (from >= table.live_since()) REQUIRE(table.read().touch(one, from, now) == is_within);
            if (from >= table.live_since() && is_within) known->second.seen = now;
        }
        if (dice() % 1'000 == 0) now += static_cast<minute_number>(dice() % 10);
        if (dice() % 5'000 == 0) end_activity(table, model, now - static_cast<minute_number>(dice() % 30), false);
        if (dice() % 20'000 == 0) end_activity(table, model, 0, true);
        if (dice() % 20'000 == 0) {
            const auto since = now - static_cast<minute_number>(dice() % 30);
            end_activity(table, model, since, false);
            table.forget_before(since);
        }
        if (dice() % 500 == 0) maintain(table);
    }
    std::uint64_t live = 0;
    for (const auto& [fingerprint, mark] : model) {
        if (mark.seen < table.live_since()) continue;
        ++live;
        REQUIRE(table.read().mark_of(fingerprint) == mark);
    }
    CHECK(live_in(table) == live);
}

TEST_CASE("a table of series finds nothing that was not entered") {
    series_table table;
    std::mt19937_64 dice{7};
    constexpr std::uint64_t count = sanitized ? 60'000 : 300'000;
    for (std::uint64_t i = 0; i < count; ++i) insert(table, dice(), {.seen = 10, .combination = 1});
    CHECK(live_in(table) == count);
    std::mt19937_64 others{8};
    std::uint64_t found = 0;
    for (int i = 0; i < (sanitized ? 300'000 : 10'000'000); ++i) found += table.read().touch(others(), 1, 11) ? 1 : 0;
    CHECK(found == 0);
}

TEST_CASE("a series takes 21 to 34 bytes, and memory is used again") {
    series_table table;
    std::mt19937_64 dice{9};
    std::uint64_t entered = 0;
    const std::uint64_t unit = sanitized ? 10'000 : 100'000;
    for (const std::uint64_t count : {10 * unit, 13 * unit, 17 * unit, 20 * unit}) {
        for (; entered < count; ++entered) {
            insert(table, dice(), {.seen = 10});
            if (entered % 1'000 == 0) maintain(table);
        }
        const double bytes = static_cast<double>(table.bytes()) / static_cast<double>(count);
        CAPTURE(count);
        CHECK(bytes > 20);
        CHECK(bytes < (sanitized ? 60 : 34));  // a small table has memory for growth
    }
    const std::size_t before = table.bytes();
    for (minute_number now = 100; now < 500; now += 100) {
        table.forget_before(now);
        for (std::uint64_t i = 0; i < 15 * unit; ++i) {
            insert(table, dice(), {.seen = now});
            if (i % 1'000 == 0) maintain(table);
        }
        CHECK(live_in(table) == 15 * unit);
    }
    CHECK(table.bytes() <= before + before / 8);
}

TEST_CASE("a table of series that gets no memory keeps what it has, and grows later") {
    std::mt19937_64 dice{11};
    series_table table;
    std::vector<std::uint64_t> all;
    all.reserve(100'000);
    const auto insert_next = [&] {
        const std::uint64_t one = dice();
        insert(table, one, {.seen = 10});
        all.push_back(one);
    };
    for (std::uint64_t after = 0; all.size() < 60'000; after = (after + 1) % 12) {
        const bool is_out = fails_once(after, [&] {
            for (int i = 0; i < 500; ++i) insert_next();
        });
        if (is_out) insert_next();
    }
    const auto view = table.read();
    for (const std::uint64_t each : all) REQUIRE(view.mark_of(each).seen == 10);
    CHECK(live_in(table) == all.size());
}

TEST_CASE("keys that are no hashes take no more memory than they are worth") {
    series_table table;
    const auto fill = [&table] {
        for (std::uint64_t one = 1; one < 100'000; ++one) table.fill_in(one, {.seen = 10});
    };
    CHECK_THROWS_AS(fill(), std::bad_alloc);
    CHECK(table.bytes() < 64 << 20);
}

TEST_CASE("requests touch a table of series while it grows") {
    series_table table;
    std::vector<std::uint64_t> known(20'000);
    std::mt19937_64 dice{10};
    for (std::uint64_t& each : known) insert(table, each = dice(), {.seen = 10, .combination = 1});
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> wrong{0};
    std::atomic<int> rounds{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&, i] {
            std::mt19937_64 own{static_cast<std::uint64_t>(i)};
            while (!done) {
                const auto view = table.read();
                for (int at = 0; at < 500; ++at) {
                    // Not found while it moves; what was never entered is never found.
                    (void)view.touch(known[own() % known.size()], 1, 20);
                    if (view.touch(own(), 1, 20)) ++wrong;
                }
                ++rounds;
            }
        });
    for (int i = 0; i < 60'000; ++i) {
        while (!table.find_room(known[0]) || !table.find_room(dice())) rewrite_all(table, table.plan_for_room());
        const std::uint64_t one = dice();
        while (!table.find_room(one)) rewrite_all(table, table.plan_for_room());
        table.insert(one, {.seen = 10});
        if (i % 500 == 0)
            for (const std::uint64_t each : table.doubtful()) rewrite_all(table, table.plan(each));
    }
    while (rounds < 100) std::this_thread::yield();
    done = true;
    for (std::thread& each : threads) each.join();
    CHECK(wrong == 0);
    const auto view = table.read();
    for (const std::uint64_t each : known) REQUIRE(view.touch(each, 1, 30));
    for (const std::uint64_t each : known) REQUIRE(view.mark_of(each).seen == 30);
}

TEST_CASE("room for several series is found, whatever lines they share") {
    series_table table;
    for (std::uint64_t i = 0; i < 12'500; ++i) insert(table, fingerprint_of(i), {.seen = 10});  // nearly full
    constexpr std::uint64_t in_first_partition = ~std::uint64_t{0} >> 3;
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const std::array together{fingerprint_of(1'000'000 + 2 * i) & in_first_partition,
                                  fingerprint_of(1'000'001 + 2 * i) & in_first_partition};
        found += table.find_room(together) ? 1 : 0;
    }
    CHECK(found > 99'000);
    CHECK(live_in(table) == 12'500);
}
