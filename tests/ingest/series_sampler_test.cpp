#include "ingest/series_sampler.hpp"

#include <atomic>
#include <thread>

#include "cardinality/findings.hpp"
#include "cardinality/remedy.hpp"
#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing::series_sampler_test {
namespace {

const time_point noon{std::chrono::hours{24 * 365 * 50 + 12}};

/// Of remote write 1, with a sample.
std::string entry(std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
    std::string inner;
    for (const auto& [name, value] : labels) inner += label(name, value);
    return len_field(1, inner + sample(1));
}

/// Requests that a limiter decides about, with what is noted of them.
struct scene {
    series_limiter limiter;
    cardinality_tracker tracker{std::vector<std::string>{"job"}, hash_key::known_to_all(), noon};
    refused_ring refused{};
    series_sampler sampler{tracker, refused, limiter};
    planner planning{hash_key::known_to_all()};

    explicit scene(std::uint64_t series_max = 0) : limiter({.global = {.hourly = series_max}}, noon) {}

    void send(const std::string& body, time_point when = noon) {
        const auto decided = planning(body, limiter, when);
        REQUIRE(decided.has_value());
        sampler.take(*decided, planning, body, protocol::v1, {.address = "10.0.0.3", .agent = "vmagent"}, when);
    }
    std::uint64_t total(series_event kind, cardinality_window window = cardinality_window::hourly) {
        return tracker.tables(kind, window).total();
    }
};

std::string numbered(int first, int count) {
    std::string body;
    for (int i = first; i < first + count; ++i)
        body += entry({{"__name__", "m"}, {"job", "shop"}, {"n", std::to_string(i)}});
    return body;
}

TEST_CASE("new and refused series are counted once somebody catches up") {
    scene at{300};
    at.send(numbered(0, 500));
    at.send(numbered(0, 500));
    CHECK(at.total(series_event::newly_admitted) == 0);
    at.sampler.catch_up();
    CHECK(at.total(series_event::newly_admitted) == 300);
    CHECK(at.total(series_event::refused) == 200);
    const cardinality_tables tables = at.tracker.tables(series_event::refused, cardinality_window::hourly);
    CHECK(tables.values_of("job")->in_all().all()[0].value == "shop");
    CHECK(tables.senders().in_all().all()[0].detail == "vmagent");
    const auto last = at.refused.all();
    REQUIRE(last.size() == 200);
    CHECK(last[0]->labels ==
          std::vector<std::pair<std::string, std::string>>{{"__name__", "m"}, {"job", "shop"}, {"n", "499"}});
    CHECK(last[0]->limit == "global");
    CHECK(last[199]->labels[2].second == "300");
}

TEST_CASE("what came in a new hour does not count in the one before, however late it is counted") {
    scene at;
    for (int hour = 0; hour < 4; ++hour) at.send(numbered(100 * hour, 100), noon + std::chrono::hours{hour});
    at.sampler.catch_up();
    CHECK(at.total(series_event::newly_admitted) == 100);
    CHECK(at.total(series_event::newly_admitted, cardinality_window::daily) == 400);
    CHECK(at.tracker.hours().size() == 4);
}

TEST_CASE("what waits when an hour ends counts in that hour") {
    scene at;
    at.send(numbered(0, 100), noon + std::chrono::minutes{59});
    at.limiter.maintain(noon + std::chrono::hours{1});
    at.sampler.end_hours();
    CHECK(at.total(series_event::newly_admitted) == 0);
    REQUIRE(at.tracker.hours().size() == 2);
    CHECK(at.tracker.hours()[0].newly_admitted == 100);
}

TEST_CASE("what came by a clock that is not believed ends no hour") {
    scene at;
    at.send(numbered(0, 100));
    at.send(numbered(100, 100), noon + std::chrono::hours{5});
    CHECK(at.limiter.sets()->leap.has_value());
    at.send(numbered(200, 100), noon + std::chrono::minutes{1});
    at.sampler.catch_up();
    CHECK(at.total(series_event::newly_admitted) == 300);
}

TEST_CASE("whoever asks is not kept by a flood") {
    scene at;
    std::atomic<bool> is_answered = false;
    std::jthread flood{[&] {
        const std::string body = numbered(0, 100);
        planner planning{hash_key::known_to_all()};
        int tenant = 0;
        do {
            const auto decided = planning(body, at.limiter, noon, std::to_string(tenant++));
            at.sampler.take(*decided, planning, body, protocol::v1, {}, noon);
        } while (!is_answered);
    }};
    for (int i = 0; i < 3; ++i) at.sampler.catch_up();
    is_answered = true;
    flood.join();
    at.sampler.catch_up();
    CHECK(at.total(series_event::newly_admitted) > 0);
}

TEST_CASE("an entry with much besides its labels is noted by these") {
    scene at;
    const std::string lasting(60'000, 'x');
    const std::string body = entry({{"__name__", "m"}, {"job", "shop"}, {"long", lasting}});
    at.send(body);
    at.send(
        body +
        entry({{"__name__", "giant"}, {"a", lasting}, {"b", lasting}, {"c", lasting}, {"d", lasting}, {"e", lasting}}));
    at.sampler.catch_up();
    CHECK(at.total(series_event::newly_admitted) == 2);
}

TEST_CASE("when nobody has time to count, fewer are looked at and stand for the rest") {
    scene at;
    constexpr int rounds = 60, each = 2'000;
    const std::string lasting(500, 'x');
    for (int round = 0; round < rounds; ++round) {
        std::string body;
        for (int i = 0; i < each; ++i)
            body += entry({{"__name__", "m"}, {"long", lasting}, {"n", std::to_string(round * each + i)}});
        at.send(body);
    }
    at.sampler.catch_up();
    const cardinality_tables tables = at.tracker.tables(series_event::newly_admitted, cardinality_window::hourly);
    const top_entry& one = tables.metrics().in_all().all()[0];
    CAPTURE(one.series, tables.error_of(one));
    CHECK(tables.error_of(one) > 0);
    CHECK(tables.error_of(one) < rounds * each);
    CHECK(one.series + tables.error_of(one) >= rounds * each);
    CHECK(one.series <= rounds * each + tables.error_of(one));
}

TEST_CASE("what waits takes 16 MiB at most: for what comes then there is no room") {
    scene at{1};
    const std::string lasting(3'900, 'x');
    constexpr int seconds = 6, each = 1'000;
    for (int second = 0; second < seconds; ++second) {
        std::string body;
        for (int i = 0; i < each; ++i)
            body += entry({{"__name__", "m"}, {"long", lasting}, {"n", std::to_string(second * each + i)}});
        at.send(body, noon + std::chrono::seconds{second});
    }
    at.sampler.catch_up();
    const int newest = std::stoi(at.refused.all().at(0)->labels.at(2).second);
    CHECK(newest > 3 * each);
    CHECK(newest < 5 * each);
}

TEST_CASE("long labels make nothing else less sure") {
    scene at{1};
    const std::string lasting(60'000, 'x');
    std::string body;
    for (int i = 0; i < 1'000; ++i)
        body += entry({{"__name__", "m"}, {"job", "shop"}, {"long", lasting}, {"n", std::to_string(i)}});
    at.send(body);
    at.send(numbered(0, 10));
    at.sampler.catch_up();
    const cardinality_tables tables = at.tracker.tables(series_event::refused, cardinality_window::hourly);
    CHECK(tables.total() == 1'009);
    CHECK(tables.error_of(tables.metrics().in_all().all()[0]) == 0);
    const auto last = at.refused.all();
    REQUIRE(last.size() > 100);
    CHECK(last[0]->labels.size() == 3);
    CHECK(last[20]->labels.size() == 4);  // of the long ones that came late the beginnings are there
    CHECK(last[20]->labels[2].second.size() == whole_value_max + 3);
    CHECK(last[20]->is_cut);
    CHECK_FALSE(last[0]->is_cut);
}

TEST_CASE("long values that differ at their ends are different, and no rule is spelled by a part of them") {
    scene at{1};
    const std::string lasting(4'000, 'x'), head(1'500, 'q');
    std::string body;
    for (int i = 0; i < 2'000; ++i)
        body += entry({{"__name__", "m"}, {"job", "shop"}, {"long", lasting}, {"query", head + std::to_string(i)}});
    at.send(body);
    at.sampler.catch_up();
    const auto found = find_explosions(at.tracker.tables(series_event::newly_admitted, cardinality_window::hourly),
                                       at.tracker.tables(series_event::refused, cardinality_window::hourly));
    REQUIRE(found.size() == 1);
    CHECK(found[0].what == explosion::label);
    CHECK(found[0].label == "query");
    CHECK(remedy_of(found[0], at.tracker.samples()).relabel.find("[0-9") == std::string::npos);
}

TEST_CASE("when the limiter goes back, so do the counts") {
    scene at;
    at.send(numbered(0, 100));
    const time_point eight = noon - std::chrono::hours{4};
    at.limiter.maintain(eight);  // in doubt
    at.limiter.maintain(eight + clock_doubt);
    REQUIRE(at.limiter.sets()->hour_span.start == eight);
    at.sampler.end_hours();
    CHECK(at.tracker.hour_start() == eight);
    CHECK(at.total(series_event::newly_admitted) == 0);
    CHECK(at.total(series_event::newly_admitted, cardinality_window::daily) == 100);
    CHECK(at.tracker.hours().size() == 1);
}

}  // namespace
}  // namespace seriesgate::testing::series_sampler_test
