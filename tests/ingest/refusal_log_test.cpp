#include "ingest/texts.hpp"

#include <map>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace refusal_log_test {
namespace {

const refusal_log::clock::time_point start{1h};

std::uint64_t line_of(const refusal_log::due& said) {
    return said.samples;
}

std::string tenant(int number) {
    return std::to_string(number);
}

}  // namespace

TEST_CASE("the first refusal of a limit is said at once, further ones in ten seconds, all of them") {
    refusal_log log;
    CHECK(line_of(log.count("global", "a", 5, start)) == 5);
    CHECK(line_of(log.count("global", "a", 7, start + 1s)) == 0);
    CHECK(line_of(log.count("global", "a", 1, start + 9'999ms)) == 0);
    CHECK(line_of(log.count("global", "a", 2, start + 10s)) == 10);
    CHECK(line_of(log.count("global", "a", 1, start + 11s)) == 0);
}

TEST_CASE("two that explode at once are both said, each with what is its own") {
    refusal_log log;
    std::map<std::string, std::uint64_t> told;
    std::map<std::string, std::uint64_t> lines;
    for (int second = 0; second < 3600; ++second)
        for (const auto& [tracker, samples] : {std::pair{"a", 1000u}, std::pair{"b", 1u}}) {
            const auto said = log.count("global", tracker, samples, start + std::chrono::seconds{second});
            told[tracker] += line_of(said);
            lines[tracker] += line_of(said) != 0 ? 1 : 0;
            if (said.others) FAIL("nothing had to wait");
        }
    // What came after the last line is yet to be said.
    CHECK(told == std::map<std::string, std::uint64_t>{{"a", 3'591'000}, {"b", 3'591}});
    CHECK(lines == std::map<std::string, std::uint64_t>{{"a", 360}, {"b", 360}});
}

TEST_CASE("a tenant's limits are apart, too") {
    refusal_log log;
    CHECK(line_of(log.count("global", "a", 1, start)) == 1);
    CHECK(line_of(log.count("tenant", "a", 2, start)) == 2);
    CHECK(line_of(log.count("per-pod", "a", 3, start)) == 3);
}

TEST_CASE("in ten seconds there are ten lines, and what finds none is summed up") {
    refusal_log log;
    int lines = 0;
    for (int i = 0; i < 10; ++i) lines += line_of(log.count("tenant", tenant(i), 100, start)) == 100 ? 1 : 0;
    CHECK(lines == 10);

    const auto eleventh = log.count("tenant", tenant(10), 100, start);
    CHECK(line_of(eleventh) == 0);
    REQUIRE(eleventh.others);
    CHECK(eleventh.others->samples == 100);
    CHECK(eleventh.others->limits == 1);

    for (int i = 10; i < 30; ++i)
        for (int again = 0; again < 2; ++again) {
            const auto said = log.count("tenant", tenant(i), 50, start + 9s);
            if (line_of(said) != 0 || said.others) FAIL(i);
        }
    const auto next = log.count("tenant", tenant(29), 7, start + 10s);
    CHECK(line_of(next) == 7);  // what it had before is in the summary
    REQUIRE(next.others);
    CHECK(next.others->samples == 2000);
    CHECK(next.others->limits == 20);
}

TEST_CASE("what came after the last line of an explosion is in a summary") {
    refusal_log log;
    log.count("tenant", "a", 5, start);
    log.count("tenant", "a", 6, start + 1s);
    const auto soon = log.count("tenant", "b", 1, start + 19s);
    CHECK((line_of(soon) == 1 && !soon.others));
    const auto later = log.count("tenant", "b", 1, start + 29s);
    REQUIRE(later.others);
    CHECK(later.others->samples == 6);
    CHECK(later.others->limits == 1);
}

TEST_CASE("who looks now and then hears of it, though nothing more is refused") {
    refusal_log log;
    CHECK_FALSE(log.rest(start));
    log.count("tenant", "a", 5, start);
    CHECK_FALSE(log.rest(start + 30s));  // all has been said
    log.count("tenant", "a", 5, start + 40s);
    log.count("tenant", "a", 6, start + 41s);
    std::uint64_t said = 0;
    for (auto now = start + 42s; now < start + 60s; now += 1s)
        if (log.rest(now)) FAIL("said too early: it is that limit's own line");
    for (auto now = start + 60s; now < start + 90s; now += 1s) {
        const auto rest = log.rest(now);
        said += rest ? rest->samples : 0;
    }
    CHECK(said == 6);
}

TEST_CASE("nothing is lost and nothing is said twice, whoever explodes") {
    refusal_log log;
    std::uint64_t refused = 0;
    std::uint64_t said = 0;
    std::uint64_t lines = 0;
    std::uint64_t summaries = 0;
    for (int second = 0; second < 600; ++second)
        for (int i = 0; i < 1200; ++i) {
            const std::uint64_t samples = static_cast<std::uint64_t>(i) * 7 + 1;
            refused += samples;
            const auto due = log.count(i % 2 == 0 ? "global" : "tenant", tenant(i), samples, start + 1s * second);
            said += line_of(due) + (due.others ? due.others->samples : 0);
            lines += line_of(due) != 0 ? 1 : 0;
            summaries += due.others ? 1 : 0;
        }
    CHECK(lines == 600);  // ten in ten seconds
    CHECK(summaries == 60);
    const auto last = log.count("x", "x", 0, start + 1h);
    REQUIRE(last.others);
    CHECK(said + last.others->samples == refused);
}

}  // namespace refusal_log_test
