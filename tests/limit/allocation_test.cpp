#include "support/allocations.hpp"

#include "limit/figures.hpp"
#include "limit/fleet_gate.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "limit/snapshot_bytes.hpp"
#include "limit/telling.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("the count of allocations counts") {
    std::unique_ptr<std::vector<int>> kept;  // what nobody has in the end a compiler leaves out
    CHECK(allocations_of([&] { kept = std::make_unique<std::vector<int>>(100); }).count == 2);
    CHECK(kept->size() == 100);
    struct alignas(64) line {
        char bytes[64];
    };
    CHECK(allocations_of([] { CHECK(std::make_unique<line[]>(3) != nullptr); }).bytes >= 192);
    CHECK(allocations_of([] {}).count == 0);
}

TEST_CASE("known and refused series and their markers take no lock and allocate nothing") {
    offering gate{{.global = {.hourly = 1'000, .daily = 1'500}}, at(10)};
    // In a table a marker ends a series' activity, so those that are admitted have none here.
    const bool in_table = tested_set() == set_kind::exact;
    const auto offered = joined(series(0, 2'000), stale_markers(in_table ? 1'000 : 500, 1'000));
    gate.offer(offered, at(10));  // the buffers grow to their size
    gate.offer(offered, at(11, 15));
    const auto commits = gate.commits();

    const auto decide = [&] { gate.limiter.decide(offered, at(11, 20), gate.verdicts, gate.scratch); };
    for (int i = 0; i < 10; ++i) CHECK(allocations_of(decide).count == 0);
    CHECK(gate.commits() == commits);
    CHECK(std::ranges::count_if(gate.verdicts, is_accepted) >= 1'000);
    CHECK(std::ranges::count(gate.verdicts, verdict::refused_hourly) == 1'000);
}

TEST_CASE("a commit of new series allocates nothing either") {
    offering gate{{.global = {.hourly = 1'000'000}}, at(10)};
    gate.offer(series(0, 2'000), at(10));
    const auto offered = series(2'000, 2'000);
    gate.verdicts.assign(offered.size(), verdict::refused_hourly);
    CHECK(allocations_of([&] { gate.limiter.decide(offered, at(10), gate.verdicts, gate.scratch); }).count == 0);
    CHECK(gate.hourly().series_current == 4'000);
}

TEST_CASE("a roll-over on a request allocates no filter when maintenance has been there") {
    offering gate{{.global = {.hourly = 1'000}}, at(23)};
    const auto offered = series(0, 1'000);
    gate.offer(offered, at(23));
    gate.limiter.maintain(at(23, 59, 59));
    gate.scratch.returned.reserve(offered.size());  // as it is once a worker has seen an hour end
    const auto decide = [&] { gate.limiter.decide(offered, at(0, 0, 0, 1), gate.verdicts, gate.scratch); };
    CHECK(allocations_of(decide).bytes < 1'000);
    CHECK(gate.hourly().series_current == 1'000);
}

TEST_CASE("maintenance makes the next window's memory once, not again for every new series") {
    offering gate{{}, at(10)};
    gate.offer(series(0, 300'000), at(10));
    const auto maintain = [&] { gate.limiter.maintain(at(10, 59, 30)); };
    CHECK(allocations_of(maintain).count > 0);
    for (int i = 0; i < 20; ++i) maintain();  // a table counts its entries anew, some at a time
    for (std::uint64_t i = 0; i < 100; ++i) {
        gate.offer(series(1'000'000 + i, 1), at(10, 59, 30));
        CHECK(allocations_of(maintain).count == 0);
    }
}

namespace {

/// A limit a tenant, and two over labels, of which one only watches.
limit_rules tenants_and_groups() {
    limit_rules settings{.global = {.hourly = 1'000, .daily = 1'500}};
    settings.tenants.fallback = {.hourly = 500, .daily = 600};
    label_limit limit =
        limit_named("per-namespace", {"namespace", "job"}, {.hourly = 200, .daily = 0}, "{namespace=~\"sh.*\"}");
    limit.per_tenant = true;
    label_limit watch = limit_named("watch", {}, {.hourly = 100, .daily = 0});
    watch.mode = limit_mode::observe;
    settings.limits = {limit, watch};
    settings.exempt = {selecting("{namespace=\"vital\"}")};
    return settings;
}

}  // namespace

TEST_CASE("with tenants and label limits, known and refused series allocate nothing and nobody looks at their labels") {
    labelled_offering gate{tenants_and_groups(), at(10)};
    const batch sent{.tenant = "team", .labels = {{"job", "web"}, {"namespace", "shop"}}, .count = 2'000};
    const time_point now = GENERATE(values<time_point>({at(10), at(11, 5), at(11, 15)}));
    CHECK(gate.accepted(sent, at(10)) == 200);
    gate.offer(sent, now);
    const auto commits = figures_of(gate.limiter).commits;
    const auto check_free = [&](const batch& again, std::uint64_t accepted) {
        gate.prepare(again);
        gate.labels.asked = 0;
        const request_origin origin{.tenant = again.tenant, .labels = &gate.labels};
        const auto decide = [&] { gate.limiter.decide(gate.offered, now, gate.verdicts, gate.scratch, origin); };
        decide();  // the buffers grow to their size
        for (int i = 0; i < 5; ++i) CHECK(allocations_of(decide).count == 0);
        CHECK(gate.labels.asked == 0);
        CHECK(static_cast<std::uint64_t>(std::ranges::count_if(gate.verdicts, is_accepted)) == accepted);
    };
    const auto part = [&sent](std::uint64_t first, std::uint64_t count, bool admits = true) {
        batch made = sent;
        made.first = first;
        made.count = count;
        made.admits = admits;
        return made;
    };
    check_free(part(200, 1'800), 0);         // all refused
    check_free(part(0, 200), 200);           // all known
    check_free(part(0, 2'000), 200);         // some of each
    check_free(part(0, 2'000, false), 200);  // markers of them
    CHECK(figures_of(gate.limiter).commits == commits);
}

TEST_CASE("new series of groups that are there allocate nothing either") {
    labelled_offering gate{tenants_and_groups(), at(10)};
    batch sent{.tenant = "team", .labels = {{"job", "web"}, {"namespace", "shop"}}, .count = 90};
    gate.offer(sent, at(10));
    sent.first = 90;
    sent.count = 10;
    gate.prepare(sent);
    const request_origin origin{.tenant = sent.tenant, .labels = &gate.labels};
    gate.labels.asked = 0;
    const auto decide = [&] { gate.limiter.decide(gate.offered, at(10), gate.verdicts, gate.scratch, origin); };
    CHECK(allocations_of(decide).count == 0);
    CHECK(gate.labels.asked == 10);  // once each
    CHECK(gate.hourly().series_current == 100);
}

TEST_CASE("a damaged snapshot makes nobody allocate much more than its size") {
    limit_rules settings = tenants_and_groups();
    settings.false_positive_rate = 0.9;  // small filters
    labelled_offering gate{settings, at(10)};
    for (const char* tenant : {"a", "b", "c"}) gate.offer({.tenant = tenant, .count = 120}, at(10));
    const std::string bytes = saved(gate.limiter);
    for (std::size_t place = 0; place < bytes.size(); place += place < 300                    ? 1
                                                               : place + 2'000 > bytes.size() ? 7
                                                                                              : 4'999) {
        std::string damaged = bytes;
        damaged[place] = static_cast<char>(damaged[place] ^ 0xff);
        labelled_offering other{settings, at(10)};
        const auto restore = [&] { restored(other.limiter, damaged, at(10)); };
        // A text of a megabyte may be asked for before it is found missing.
        if (allocations_of(restore).bytes > 4 * bytes.size() + (2u << 20)) FAIL("damaged at " << place);
    }
}

TEST_CASE("what is untold stays so until all of it is settled, where memory runs out") {
    fleet_gate gate{three_limits()};
    gate.offer(1, 3, at(10, 30), passes_untold);
    const std::vector<std::uint64_t> all{fingerprint_in(gate.sent, 1), fingerprint_in(gate.sent, 2),
                                         fingerprint_in(gate.sent, 3)};
    for (std::uint64_t after = 0;; ++after) {
        REQUIRE(after < 50);
        const failing_allocation fails{after};
        try {
            mark_told(gate.limiter, describe(gate.limiter, all, tell_kind::untold));
        } catch (const std::bad_alloc&) {
            REQUIRE(gate.untold().size() == 3);
            continue;
        }
        CHECK(after > 2);
        break;
    }
    CHECK(gate.untold().empty());
}
