// Warm start: series that the store has already are counted, above limits too, and are known from then on.

#include "limit/labelled.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {
namespace {

const label_set metric{{"__name__", "m"}};

batch stored(std::uint64_t first, std::uint64_t count, const label_set& labels = metric) {
    return {.tenant = "a", .labels = labels, .first = first, .count = count, .are_stored = true};
}
batch sent(std::uint64_t first, std::uint64_t count, const label_set& labels = metric) {
    return {.tenant = "a", .labels = labels, .first = first, .count = count};
}

}  // namespace

TEST_CASE("stored series are counted in every budget, and above its maximum") {
    limit_rules rules{.global = {.hourly = 30, .daily = 40}};
    rules.tenants.fallback = {.hourly = 20, .daily = 20};
    rules.limits.push_back(limit_named("per-name", {"__name__"}, {.hourly = 10, .daily = 10}));
    labelled_offering gate{rules, at(10), tested_set()};
    CHECK(gate.refused(stored(0, 50), at(10)) == 0);
    CHECK(gate.hourly() == tally{.max = 30, .current = 50, .refused = 0, .samples_refused = 0, .over_limit = 0});
    CHECK(gate.daily() == tally{.max = 40, .current = 50, .refused = 0, .over_limit = 0});
    CHECK(gate.hourly(tenant_id("a")) == tally{.max = 20, .current = 50, .refused = 0});
    const budget_id group{.limit = "per-name", .group = {{"__name__", "m"}}};
    CHECK(gate.hourly(group) == tally{.max = 10, .current = 50, .refused = 0});

    // They are known to senders. A new series finds no room.
    CHECK(gate.refused(sent(0, 50), at(10, 1)) == 0);
    CHECK(gate.refused(sent(50, 5), at(10, 1)) == 5);
    // The same again counts nothing.
    gate.offer(stored(0, 50), at(10, 2));
    CHECK(gate.hourly() == tally{.current = 50});
}

TEST_CASE("from the next hour on, the limits apply to stored series as to others") {
    labelled_offering gate{{.global = {.hourly = 30}}, at(10), tested_set()};
    gate.offer(stored(0, 50), at(10));
    CHECK(gate.refused(sent(0, 50), at(11)) == 20);
    CHECK(gate.hourly() == tally{.max = 30, .current = 30});
}

TEST_CASE("stored series within the limits leave the rest of the room to others, in this hour and the next") {
    labelled_offering gate{{.global = {.hourly = 30, .daily = 40}}, at(10), tested_set()};
    gate.offer(stored(0, 25), at(10));
    CHECK(gate.refused(sent(25, 10), at(10)) == 5);
    CHECK(gate.refused(sent(100, 10), at(11)) == 10);  // room is kept for the 30 of the hour before
    CHECK(gate.refused(sent(0, 30), at(11)) == 0);
}

TEST_CASE("stored exempt series count as exempt, above that limit too") {
    labelled_offering gate{
        {.global = {.hourly = 5}, .exempt = {selecting("m")}, .exempt_series_max = 10}, at(10), tested_set()};
    CHECK(gate.refused(stored(0, 20), at(10)) == 0);
    CHECK(figures_of(gate.limiter).exempt_hourly == 20);
    CHECK(gate.hourly().series_current == 0);
}

TEST_CASE("stored series beyond a limit that observes are not counted against it") {
    labelled_offering gate{{.global = {.hourly = 5}, .mode = limit_mode::observe}, at(10), tested_set()};
    gate.offer(stored(0, 20), at(10));
    CHECK(gate.hourly().series_current == 5);
}

TEST_CASE("stored series of a histogram that is kept whole begin it") {
    labelled_offering gate{{.global = {.hourly = 100}, .whole_histograms = true}, at(10), tested_set()};
    const auto bucket = [](const char* le) { return label_set{{"__name__", "h_bucket"}, {"le", le}}; };
    gate.offer(stored(0, 100, bucket("1")), at(10));
    CHECK(gate.refused(sent(0, 1, bucket("+Inf")), at(10)) == 0);  // completes it
    CHECK(gate.hourly() == tally{.current = 101, .over_limit = 1});
    CHECK(gate.refused(sent(0, 1), at(10)) == 1);
}

TEST_CASE("stored series are active until they are idle") {
    labelled_offering gate{{.global = {.active = 10}}, at(10), set_kind::exact};
    CHECK(gate.refused(stored(0, 15), at(10)) == 0);
    CHECK(figures_of(gate.limiter).active.value().series_current == 15);
    gate.offer(sent(0, 5), at(10, 8));
    CHECK(gate.refused(sent(15, 1), at(10, 8)) == 1);
    gate.limiter.maintain(at(10, 11));
    CHECK(figures_of(gate.limiter).active.value().series_current == 5);
    CHECK(gate.refused(sent(15, 5), at(10, 11)) == 0);
}

}  // namespace seriesgate::testing
