#include "cardinality/cardinality_tracker.hpp"

#include <atomic>
#include <filesystem>
#include <new>
#include <thread>

#include "cardinality/findings.hpp"
#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_tree.hpp"
#include "support/state_text.hpp"

namespace seriesgate::testing::cardinality_tracker_test {
namespace {

const time_point ten{std::chrono::hours{24 * 100 + 10}};
const std::vector<std::string> chosen{"job"};

/// Requests whose series have a name, a job and a number.
struct gate : label_source {
    cardinality_tracker all{chosen, hash_key::known_to_all(), ten};
    std::vector<std::uint64_t> fingerprints{};
    std::vector<std::string> numbers{};
    std::vector<label_view> shown{};
    std::size_t times_shown = 0;

    std::span<const label_view> labels(std::size_t entry) override {
        ++times_shown;
        shown = {{"__name__", "up"}, {"job", "node"}, {"number", numbers[entry]}};
        return shown;
    }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {}; }

    void send(series_event kind, std::uint64_t first, std::uint64_t count, time_point now) {
        fingerprints.clear();
        numbers.clear();
        for (std::uint64_t i = first; i < first + count; ++i) {
            numbers.push_back(std::to_string(i));
            fingerprints.push_back(hash_key::known_to_all()(numbers.back()));
        }
        all.note(kind, fingerprints, *this, {.address = "a"}, now);
    }
    std::uint64_t total(series_event kind, cardinality_window window) { return all.tables(kind, window).total(); }
};

TEST_CASE("what is new and what is refused is counted apart, in the hour and in the day") {
    gate one;
    one.send(series_event::newly_admitted, 0, 100, ten);
    one.send(series_event::refused, 100, 300, ten);
    one.send(series_event::refused, 100, 300, ten);
    CHECK(one.times_shown == 400);
    CHECK(one.total(series_event::newly_admitted, cardinality_window::hourly) == 100);
    CHECK(one.total(series_event::refused, cardinality_window::hourly) == 300);
    CHECK(one.total(series_event::newly_admitted, cardinality_window::daily) == 100);
    CHECK(one.total(series_event::refused, cardinality_window::daily) == 300);
}

TEST_CASE("an hour that has ended is the day's, and a day ends") {
    gate one;
    one.send(series_event::newly_admitted, 0, 100, ten);
    one.all.maintain(ten + std::chrono::minutes{59});
    CHECK(one.total(series_event::newly_admitted, cardinality_window::hourly) == 100);
    const time_point eleven = ten + std::chrono::hours{1};
    one.all.maintain(eleven);
    CHECK(one.total(series_event::newly_admitted, cardinality_window::hourly) == 0);
    CHECK(one.total(series_event::newly_admitted, cardinality_window::daily) == 100);
    one.send(series_event::newly_admitted, 50, 100, eleven);
    CHECK(one.total(series_event::newly_admitted, cardinality_window::hourly) == 100);
    CHECK(one.total(series_event::newly_admitted, cardinality_window::daily) == 200);
    one.all.maintain(ten);  // a clock that goes back ends nothing
    CHECK(one.total(series_event::newly_admitted, cardinality_window::hourly) == 100);
    one.all.maintain(ten + std::chrono::hours{14});
    CHECK(one.total(series_event::newly_admitted, cardinality_window::hourly) == 0);
    CHECK(one.total(series_event::newly_admitted, cardinality_window::daily) == 0);
}

TEST_CASE("an hour that ends is in the day all the time") {
    gate one;
    one.send(series_event::refused, 0, 3'000, ten);
    std::atomic<bool> over = false;
    std::thread ends{[&] {
        for (int hour = 1; hour <= 5; ++hour) one.all.maintain(ten + std::chrono::hours{hour});
        over = true;
    }};
    std::uint64_t least = 3'000;
    while (!over) least = std::min(least, one.total(series_event::refused, cardinality_window::daily));
    ends.join();
    CHECK(least == 3'000);
}

TEST_CASE("what is noted without memory leaves counts that can be read, saved and loaded") {
    bool has_failed = true;
    for (std::uint64_t after = 0; has_failed; ++after) {
        CAPTURE(after);
        gate one;
        has_failed = fails_once(after, [&] { one.send(series_event::newly_admitted, 0, 1, ten); });
        const auto tables = one.all.tables(series_event::newly_admitted, cardinality_window::hourly);
        CHECK(metrics_of(tables, tables).size() <= 1);
        cardinality_tracker again{chosen, hash_key::known_to_all(), ten};
        CHECK(loads_text(again, saved_text(one.all), ten));
    }
}

TEST_CASE("an hour that ends without memory loses no count, and ends at the next try") {
    const time_point eleven = ten + std::chrono::hours{1};
    bool has_failed = true;
    for (std::uint64_t after = 0; has_failed; ++after) {
        CAPTURE(after);
        gate one;
        one.send(series_event::newly_admitted, 0, 20, ten);
        one.send(series_event::refused, 20, 30, ten);
        has_failed = fails_once(after, [&] { one.all.maintain(eleven); });
        CHECK(one.total(series_event::newly_admitted, cardinality_window::daily) == 20);
        CHECK(one.total(series_event::refused, cardinality_window::daily) == 30);
        one.send(series_event::newly_admitted, 50, 5, eleven);
        one.all.maintain(eleven);
        CHECK(one.total(series_event::newly_admitted, cardinality_window::daily) == 25);
        CHECK(one.total(series_event::refused, cardinality_window::daily) == 30);
        CHECK(one.total(series_event::refused, cardinality_window::hourly) == 0);
        const auto hours = one.all.hours();
        REQUIRE(hours.size() == 2);
        CHECK(hours.front().refused == 30);
        CHECK(one.all.samples().refused.empty());
    }
}

TEST_CASE("what was counted is there again after a restart, and counts once") {
    gate before;
    before.send(series_event::newly_admitted, 0, 100, ten);
    before.send(series_event::refused, 100, 300, ten);
    const std::string text = saved_text(before.all);
    gate after;
    REQUIRE(loads_text(after.all, text, ten + std::chrono::minutes{30}));
    CHECK(after.total(series_event::newly_admitted, cardinality_window::hourly) == 100);
    after.send(series_event::refused, 100, 400, ten + std::chrono::minutes{30});
    CHECK(after.total(series_event::refused, cardinality_window::hourly) == 400);
    const cardinality_tables tables = after.all.tables(series_event::refused, cardinality_window::hourly);
    REQUIRE(tables.watched().metrics().size() == 1);
    CHECK(tables.watched().watched(0).labels.size() == 2);
    CHECK(tables.metrics().in_all().all()[0].first_seen == ten);
}

TEST_CASE("hours and days that have ended meanwhile are the day's, or gone") {
    gate before;
    before.send(series_event::refused, 0, 300, ten);
    const std::string text = saved_text(before.all);
    gate later;
    REQUIRE(loads_text(later.all, text, ten + std::chrono::hours{2}));
    CHECK(later.total(series_event::refused, cardinality_window::hourly) == 0);
    CHECK(later.total(series_event::refused, cardinality_window::daily) == 300);
    gate tomorrow;
    REQUIRE(loads_text(tomorrow.all, text, ten + std::chrono::hours{24}));
    CHECK(tomorrow.total(series_event::refused, cardinality_window::daily) == 0);
}

TEST_CASE("what is damaged, or of other labels, changes nothing") {
    gate before;
    before.send(series_event::refused, 0, 300, ten);
    const std::string text = saved_text(before.all);
    for (std::size_t size = 0; size < text.size(); size += std::max<std::size_t>(1, size / 7)) {
        gate after;
        CHECK_FALSE(loads_text(after.all, text.substr(0, size), ten));
        CHECK(after.total(series_event::refused, cardinality_window::daily) == 0);
    }
    cardinality_tracker other{std::vector<std::string>{"team"}, hash_key::known_to_all(), ten};
    CHECK_FALSE(loads_text(other, text, ten));
}

TEST_CASE("any byte may be wrong: it is refused or taken, and never more than the tables hold") {
    gate before;
    before.send(series_event::newly_admitted, 0, 20, ten);
    std::string text = saved_text(before.all);
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char kept = text[at];
        text[at] = static_cast<char>(kept ^ 0x41);
        gate after;
        if (loads_text(after.all, text, ten)) {
            const auto tables = after.all.tables(series_event::newly_admitted, cardinality_window::daily);
            CHECK(tables.metrics().in_all().all().size() <= cardinality_tables::metrics_max);
        }
        text[at] = kept;
    }
}

// Else the fuzzer would start from states of an older format, and get no further than their first bytes.
TEST_CASE("the seeds of fuzz_observed are states that can be loaded, and some have samples") {
    std::size_t seeds = 0, sampled = 0;
    for (const auto& file : std::filesystem::directory_iterator{source_tree() / "tests/fuzz/corpus/fuzz_observed"}) {
        CAPTURE(file.path().filename().string());
        gate after;
        CHECK(loads_text(after.all, read_file(file.path()), ten));
        const auto samples = after.all.samples();
        sampled += !samples.known.empty() && !samples.refused.empty() ? 1 : 0;
        ++seeds;
    }
    CHECK(seeds == 4);
    CHECK(sampled >= 2);
}

TEST_CASE("what nobody could note makes every count less sure") {
    gate one;
    one.send(series_event::refused, 0, 300, ten);
    one.all.miss(series_event::refused, 50);
    const cardinality_tables tables = one.all.tables(series_event::refused, cardinality_window::hourly);
    CHECK(tables.error_of(tables.metrics().in_all().all()[0]) == 50);
}

TEST_CASE("what a flood leaves out is known beforehand") {
    gate one;
    CHECK_FALSE(one.all.leaves_out(series_event::refused, 0x1fff'ffff'ffff'ffff));
    one.send(series_event::refused, 0, 3 * cardinality_tracker::counted_max, ten);
    CHECK_FALSE(one.all.leaves_out(series_event::refused, 0x1fff'ffff'ffff'ffff));
    CHECK(one.all.leaves_out(series_event::refused, 0x8fff'ffff'ffff'ffff));
    CHECK_FALSE(one.all.leaves_out(series_event::newly_admitted, 0x8fff'ffff'ffff'ffff));
    one.all.maintain(ten + std::chrono::hours{1});
    CHECK_FALSE(one.all.leaves_out(series_event::refused, 0x8fff'ffff'ffff'ffff));
}

TEST_CASE("the last hours are kept, and the one that is running is the last of them") {
    gate one;
    one.send(series_event::newly_admitted, 0, 100, ten);
    one.send(series_event::refused, 100, 30, ten);
    const auto start = std::chrono::floor<std::chrono::seconds>(ten);
    CHECK(one.all.hours() == std::vector<hour_counts>{{.start = start, .newly_admitted = 100, .refused = 30}});
    const time_point noon = ten + std::chrono::hours{2};
    one.all.maintain(noon);
    one.send(series_event::refused, 100, 7, noon);
    const std::vector<hour_counts> expected{
        {.start = start, .newly_admitted = 100, .refused = 30},
        {.start = start + std::chrono::hours{2}, .newly_admitted = 0, .refused = 7},
    };
    CHECK(one.all.hours() == expected);
    for (int hour = 3; hour < 60; ++hour) one.all.maintain(ten + std::chrono::hours{hour});
    CHECK(one.all.hours().size() == past_hours::hours_max + 1);
    CHECK(one.all.hours().front().start == start + std::chrono::hours{35});
}

TEST_CASE("hours survive a restart, and one that has ended meanwhile is among them") {
    gate one;
    one.send(series_event::newly_admitted, 0, 100, ten);
    one.all.maintain(ten + std::chrono::hours{1});
    one.send(series_event::refused, 0, 50, ten + std::chrono::hours{1});
    const std::string text = saved_text(one.all);
    const auto start = std::chrono::floor<std::chrono::seconds>(ten);
    const auto hours_after = [&](int hours) {
        const time_point now = ten + std::chrono::hours{hours};
        cardinality_tracker again{chosen, hash_key::known_to_all(), now};
        CHECK(loads_text(again, text, now));
        return again.hours();
    };
    const hour_counts first{.start = start, .newly_admitted = 100};
    const hour_counts second{.start = start + std::chrono::hours{1}, .refused = 50};
    CHECK(hours_after(1) == std::vector<hour_counts>{first, second});
    CHECK(hours_after(3) == std::vector<hour_counts>{first, second, {.start = start + std::chrono::hours{3}}});
    CHECK(hours_after(20) == std::vector<hour_counts>{first, second, {.start = start + std::chrono::hours{20}}});
}

TEST_CASE("hours that are none, or out of order, are damage") {
    past_hours some;
    some.add({.start = std::chrono::sys_seconds{std::chrono::hours{7}}, .newly_admitted = 1});
    some.add({.start = std::chrono::sys_seconds{std::chrono::hours{8}}, .newly_admitted = 2});
    const std::string text = saved_text(some);
    const auto is_taken = [](std::string_view bytes) {
        past_hours again;
        return reads_text(again, bytes).has_value();
    };
    CHECK(is_taken(text));
    CHECK_FALSE(is_taken(std::string_view{text}.substr(0, text.size() - 1)));
    for (const std::size_t at :
         {8u, 15u, 32u}) {  // the lowest and the highest byte of a start, and of the next one the lowest
        std::string damaged = text;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
        CHECK_FALSE(is_taken(damaged));
    }
}

TEST_CASE("what load leaves out stands for the rest label by label, too") {
    gate one;
    for (int i = 0; i < 4; ++i) one.all.thin_out(series_event::refused);
    one.send(series_event::refused, 0, 10'000, ten);
    const auto refused = one.all.tables(series_event::refused, cardinality_window::hourly);
    REQUIRE(refused.watched().metrics().size() == 1);
    const top_entry& watched = refused.watched().metrics()[0];
    CHECK(watched.series == refused.metrics().in_all().all()[0].series);
    CHECK(refused.error_of_watched(watched) != 0);
}

}  // namespace
}  // namespace seriesgate::testing::cardinality_tracker_test
