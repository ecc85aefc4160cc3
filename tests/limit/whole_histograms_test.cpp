// Histograms that are admitted whole or not at all: what budgets_model_test.cpp does not have.
#include <thread>

#include "limit/figures.hpp"
#include "limit/histograms.hpp"
#include "limit/limiter.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/near.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a histogram that begins with the last room is admitted whole, and counted") {
    histogram_offering gate{whole(100), at(10)};
    gate.accept(gauges(0, 97), at(10));
    SECTION("in any order") {
        series_list sent = latency(1);
        if (GENERATE(false, true)) std::ranges::reverse(sent);
        CHECK(gate.accept(sent, at(10)) == 12);
    }
    SECTION("over several requests") {
        CHECK(gate.accept(part(latency(1), 0, 2), at(10)) == 2);
        CHECK(gate.accept(part(latency(1), 2, 5), at(10, 1)) == 5);
        CHECK(gate.accept(part(latency(1), 7, 5), at(10, 59)) == 5);
    }
    SECTION("with other series between, and every series twice") {
        CHECK(gate.accept(joined(part(latency(1), 0, 3), gauges(500, 5)), at(10)) == 3);
        CHECK(gate.accept(joined(latency(1), joined(gauges(500, 5), latency(1))), at(10)) == 24);
    }
    CHECK(gate.hourly() == tally{.current = 109, .over_limit = 9});
    CHECK(gate.daily() == tally{.current = 109, .over_limit = 0});
    CHECK(gate.hourly(tenant_id("")).series_current == 109);

    CHECK(gate.accept(joined(latency(2), gauges(900, 1)), at(10)) == 0);
    CHECK(gate.accept(latency(1), at(10)) == 12);
    CHECK(gate.hourly() == tally{.current = 109, .over_limit = 9});
}

TEST_CASE("the histograms of a request cost rule work") {
    /// A source whose series all have the same labels, as those of remote write 2 may.
    struct repeated_labels final : label_source {
        label_set all = named("latency_bucket", {{"le", "1"}});
        std::vector<label_view> views{};
        label_hasher hasher{hash_key::known_to_all()};

        repeated_labels() {
            for (int i = 0; i < 1'000; ++i) all.emplace_back("x" + std::to_string(i), "y");
            views = views_of(all);
        }
        std::span<const label_view> labels(std::size_t) override { return views; }
        histogram_family family(std::size_t, std::span<const label_view> of) override {
            return hasher.family(of, tenant_key_of("", hash_key::known_to_all()));
        }
    } same;
    offering gate{whole(0), at(10)};
    const auto decide = [&](std::uint64_t first, std::uint64_t count) {
        const std::vector<offered_series> offered = series(first, count);
        gate.verdicts.assign(count, verdict::unknown);
        return gate.limiter.decide(offered, at(10), gate.verdicts, gate.scratch, {.tenant = "", .labels = &same});
    };
    CHECK(decide(0, 1'000));
    CHECK_FALSE(decide(1'000, 6'000));
    CHECK(gate.hourly() == tally{.current = 1'000});
}

TEST_CASE("without the option the limit is exact to the series") {
    limit_rules settings = whole(100);
    settings.whole_histograms = false;
    histogram_offering gate{settings, at(10)};
    gate.accept(gauges(0, 97), at(10));
    CHECK(gate.accept(latency(1), at(10)) == 3);
    CHECK(gate.hourly() == tally{.current = 100, .over_limit = 0});
    CHECK(gate.labels.asked == 0);
}

TEST_CASE("a histogram has an end: a label le that explodes does not pass the limits") {
    histogram_offering gate{whole(1), at(10)};
    series_list buckets;
    for (int i = 0; i < 3'000; ++i) buckets.push_back(named("latency_bucket", {{"le", std::to_string(i)}}));
    SECTION("of the hour") {
        CHECK(gate.accept(buckets, at(10)) == 1 + 200);
        CHECK(gate.accept(buckets, at(10)) == 1 + 200);
        CHECK(gate.hourly().series_over_limit == 200);
        CHECK(is_near(gate.hourly().series_cut, 2'799, 0.03));
    }
    SECTION("nor of the day") {
        histogram_offering daily{whole(0, 1), at(10)};
        CHECK(daily.accept(buckets, at(10)) == 1 + 200);
        CHECK(daily.accept(buckets, at(11)) == 1 + 200);
        CHECK(daily.daily().series_over_limit == 200);
        CHECK(is_near(daily.daily().series_cut, 2'799, 0.03));
    }
    SECTION("in a budget that would have room for more") {
        limit_rules settings = whole(10'000);
        settings.histogram_series_max = 30;
        histogram_offering large{settings, at(10)};
        large.accept(joined(gauges(0, 9'998), part(buckets, 0, 2)), at(10));
        CHECK(large.accept(buckets, at(10)) == 2 + 30);
        CHECK(large.hourly().series_over_limit == 30);
    }
}

/// Twenty histograms begin in turn with the last room of a budget, and each brings a thousand series.
std::uint64_t explode(histogram_offering& gate, int first_pod, time_point now) {
    series_list sent;
    for (int bound = 0; bound < 1'000; ++bound)
        for (int pod = first_pod; pod < first_pod + 20; ++pod)
            sent.push_back(named("latency_bucket", {{"le", std::to_string(bound)}, {"pod", std::to_string(pod)}}));
    return gate.accept(sent, now);
}

TEST_CASE("what completes histograms has a bound in each budget: a tenth of it, and at least one histogram") {
    limit_rules settings = whole(20);
    SECTION("one histogram") {
        histogram_offering gate{settings, at(10)};
        CHECK(explode(gate, 0, at(10)) == 20 + 200);
        CHECK(explode(gate, 0, at(10)) == 20 + 200);
        CHECK(gate.hourly() == tally{.current = 220, .over_limit = 200});
    }
    SECTION("a part of the limit, as it is configured") {
        settings.global = {.hourly = 5'000, .daily = 4'000};
        settings.histogram_series_max = 100;
        settings.histogram_margin = {250};
        histogram_offering gate{settings, at(10)};
        gate.accept(gauges(0, 3'980), at(10));
        explode(gate, 0, at(10));
        CHECK(gate.daily() == tally{.current = 4'100, .over_limit = 100});
        gate.accept(gauges(0, 3'980), at(11));
        gate.accept(gauges(10'000, 1'000), at(11));
        explode(gate, 0, at(11));
        CHECK(gate.daily().series_current == 4'100);
    }
    SECTION("none for any limit but one's own") {
        settings.global = {.hourly = 1'000};
        settings.limits = {limit_named("pods", {"pod"}, {.hourly = 20, .daily = 0})};
        settings.limits[0].overrides = {{.group = {{"pod", "3"}}, .maxima = {.hourly = 40, .daily = 0}}};
        settings.histogram_series_max = 10;
        histogram_offering gate{settings, at(10)};
        CHECK(explode(gate, 0, at(10)) == 19 * (20 + 10) + (40 + 10));
        explode(gate, 20, at(10));
        CHECK(gate.hourly().series_current <= 1'000 + 100);
        CHECK(gate.hourly().series_current >= 1'000);
    }
    SECTION("a budget that observes has no bound") {
        settings.mode = limit_mode::observe;
        histogram_offering gate{settings, at(10)};
        CHECK(explode(gate, 0, at(10)) == 20'000);
        CHECK(gate.hourly() == tally{.current = 20, .over_limit = 0});
    }
}

TEST_CASE("neither hours nor reloads nor restarts give what completes histograms its bound again") {
    limit_rules settings = whole(100, 300);
    settings.incumbent_grace = std::chrono::minutes{10};
    settings.histogram_series_max = 12;
    auto gate = std::make_unique<histogram_offering>(settings, at(10));
    const series_list flowing = gauges(0, 97);
    gate->accept(flowing, at(10));
    CHECK(gate->accept(latency(1), at(10)) == 12);
    CHECK(gate->hourly() == tally{.current = 109, .over_limit = 9});
    SECTION("hours: what was admitted comes back, over the limit too, and leaves to others what is left") {
        for (int hour = 11; hour < 15; ++hour) {
            CHECK(gate->accept({named("latency_bucket", {{"le", "+Inf"}, {"pod", "1"}})}, at(hour)) == 0);
            CHECK(gate->accept(latency(1), at(hour)) == 12);
            CHECK(gate->accept(gauges(hour * 100, 50), at(hour)) == 0);
            CHECK(gate->accept(flowing, at(hour)) == 97);
            CHECK(explode(*gate, 1, at(hour, 30)) == 10 + 3);
            CHECK(gate->hourly().series_current == 112);
        }
        CHECK(gate->daily().series_current == 112);
    }
    SECTION("reloads, whatever they raise and lower") {
        for (const std::uint64_t max : {200u, 100u, 150u, 100u}) {
            settings.global.hourly = max;
            gate->limiter.reconfigure(settings);
            explode(*gate, 1, at(10));
        }
        CHECK(gate->hourly().series_current == 200 + 20);
        settings.whole_histograms = false;
        gate->limiter.reconfigure(settings);
        settings.whole_histograms = true;
        gate->limiter.reconfigure(settings);
        explode(*gate, 1, at(10));
        CHECK(gate->hourly().series_current == 200 + 20);
    }
    SECTION("restarts") {
        for (int times = 0; times < 3; ++times) {
            explode(*gate, 1, at(10));
            const std::string bytes = saved(gate->limiter);
            gate = std::make_unique<histogram_offering>(settings, at(10));
            REQUIRE(restored(gate->limiter, bytes, at(10)));
        }
        explode(*gate, 1, at(10));
        CHECK(gate->hourly() == tally{.current = 112, .over_limit = 12});
    }
}

TEST_CASE("all of a refused histogram have the window and the answer of the first") {
    limit_rules settings = whole(0);
    settings.limits = {limit_named("buckets", {}, {.hourly = 0, .daily = 10}, "{le!=\"\"}")};
    settings.limits[0].answer = limit_answer::reject;
    histogram_offering gate{settings, at(10)};
    gate.accept(latency(1), at(10));
    gate.accept(part(latency(2), 0, 1), at(10));
    gate.accept(latency(2), at(10));
    CHECK(gate.verdicts == std::vector<verdict>(12, verdict::refused_daily_reported));
    CHECK(gate.daily().samples_refused == 13);
}

TEST_CASE("a name alone makes no histogram") {
    const std::vector<series_list> all{
        // Buckets without a bound, counters called _count, which are families of one, and three label sets.
        {named("ice_bucket", {{"size", "1"}}), named("ice_bucket", {{"size", "2"}}),
         named("ice_bucket", {{"size", "3"}})},
        {named("a_count"), named("b_count"), named("c_count")},
        {named("a_sum", {{"pod", "1"}}), named("a_sum", {{"pod", "2"}}), named("a_count", {{"pod", "3"}})}};
    for (const series_list& three : all) {
        histogram_offering gate{whole(2), at(10)};
        for (int again = 0; again < 2; ++again) CHECK(gate.accept(three, at(10)) == 2);
        CHECK(gate.hourly().series_over_limit == 0);
    }
}

TEST_CASE("known and refused series of histograms take no lock, and nobody looks at their labels") {
    histogram_offering gate{whole(15), at(10)};
    const series_list sent = joined(latency(1), joined(latency(2), latency(3)));
    CHECK(gate.accept(sent, at(10)) == 24);
    const auto commits = figures_of(gate.limiter).commits;
    const auto asked = gate.labels.asked;
    for (int minute = 1; minute < 5; ++minute) CHECK(gate.accept(sent, at(10, minute)) == 24);
    CHECK(figures_of(gate.limiter).commits == commits);
    CHECK(gate.labels.asked == asked);
}

TEST_CASE("an incumbent is not refused because a new bucket of its histogram was") {
    limit_rules settings = whole(12);
    settings.incumbent_grace = std::chrono::minutes{10};
    histogram_offering gate{settings, at(10)};
    gate.accept(latency(1), at(10));
    CHECK(gate.accept({named("latency_bucket", {{"le", "99"}, {"pod", "1"}})}, at(11)) == 0);
    CHECK(gate.accept(latency(1), at(11)) == 12);
}

TEST_CASE("a snapshot remembers which histograms have begun, and what was over the limits") {
    histogram_offering before{whole(20, 20), at(10)};
    before.accept(gauges(0, 19), at(10));
    CHECK(before.accept(part(latency(1), 0, 4), at(10)) == 4);
    const std::string bytes = saved(before.limiter);

    SECTION("with the option on") {
        restarted<histogram_offering> gate{whole(20, 20), bytes, at(10)};
        CHECK(gate.hourly() == tally{.current = 23, .over_limit = 3});
        CHECK(gate.daily().series_over_limit == 3);
        CHECK(gate.accept(latency(1), at(10)) == 12);
        CHECK(gate.accept(latency(2), at(10)) == 0);
        CHECK(gate.hourly().series_over_limit == 11);
        CHECK(gate.daily().series_current == 31);
    }
    SECTION("with the option off") {
        limit_rules off = whole(20, 20);
        off.whole_histograms = false;
        restarted<histogram_offering> gate{off, bytes, at(10)};
        CHECK(gate.accept(latency(1), at(10)) == 4);
        CHECK(gate.hourly().series_current == 23);
    }
}

TEST_CASE("a histogram that begins while a snapshot is written is in it") {
    struct sink_that_offers final : state_sink {
        histogram_offering& gate;
        std::string bytes;
        bool offered = false;
        std::size_t sets_size;  // day, hour, previous hour
        sink_that_offers(histogram_offering& of, std::size_t size) : gate(of), sets_size(size) {}
        bool write(std::string_view more) override {
            bytes.append(more);
            if (!offered && bytes.size() > sets_size / 3 * 2 + 1'000) {
                offered = true;
                gate.accept(part(latency(1), 0, 3), at(11));
            }
            return true;
        }
    };
    histogram_offering before{whole(2, 2), at(10)};
    if (GENERATE(true, false)) before.accept(part(latency(1), 0, 3), at(10));  // then the day knows it
    before.limiter.maintain(at(11));
    sink_that_offers sink{before, saved(before.limiter).size()};
    REQUIRE(save_snapshot(before.limiter, sink));
    REQUIRE(sink.offered);
    restarted<histogram_offering> gate{whole(2, 2), sink.bytes, at(11)};
    CHECK(gate.hourly().series_current == 3);
    CHECK(gate.accept(latency(1), at(11)) == 12);
    CHECK(gate.hourly().series_current == 12);
    CHECK(gate.daily().series_over_limit == 10);
    CHECK(gate.accept(latency(2), at(11)) == 0);
}

TEST_CASE("more histograms than the filter was made for: nobody is refused, the rate stays, memory grows") {
    limit_rules settings = whole(150'000);
    settings.histogram_margin = {6'000};
    histogram_offering gate{settings, at(10)};
    const double promised = 1e-9;
    for (int pod = 0; pod < 20'000; ++pod) {
        gate.accept(part(latency(pod), 0, 1), at(10));
        if (pod % 1'000 == 0) gate.limiter.maintain(at(10));
    }
    for (int pod = 0; pod < 20'000; ++pod) {
        if (gate.accept(latency(pod), at(10)) != 12) FAIL("histogram " << pod << " is not whole");
        if (pod % 1'000 == 0) gate.limiter.maintain(at(10));
    }
    CHECK(gate.hourly() == tally{.current = 240'000, .over_limit = 90'000});
    CHECK(gate.hourly().false_positive_rate <= promised);
}

TEST_CASE("threads that bring parts of the same histograms admit them whole, and count exactly") {
    constexpr int pods = sanitized ? 200 : 1'000;
    constexpr std::uint64_t max = 1'500;
    limit_rules settings = whole(max);
    settings.histogram_margin = {10'000};
    histogram_offering shared{settings, at(10)};
    std::vector<std::vector<std::uint64_t>> accepted(2, std::vector<std::uint64_t>(pods));
    const auto send = [&](std::size_t half) {
        lookup_result scratch;
        shown_labels labels;
        for (int round = 0; round < 3; ++round)
            for (int pod = 0; pod < pods; ++pod) {
                series_list sent;
                for (std::size_t i = half; i < 12; i += 2) sent.push_back(latency(pod)[i]);
                std::vector<verdict> verdicts(sent.size(), verdict::unknown);
                shared.limiter.decide(offered_of(sent, {}, labels), at(10), verdicts, scratch, {.labels = &labels});
                accepted[half][static_cast<std::size_t>(pod)] = verdict_counts_of(verdicts).accepted;
            }
    };
    {
        const std::jthread one{send, 0};
        const std::jthread other{send, 1};
    }
    std::uint64_t sum = 0;
    for (std::size_t pod = 0; pod < accepted[0].size(); ++pod) {
        const std::uint64_t of = accepted[0][pod] + accepted[1][pod];
        CAPTURE(pod);
        CHECK((of == 0 || of == 12));
        sum += of;
    }
    const window_figures hour = shared.hourly();
    CHECK(hour.series_current == sum);
    CHECK(hour.series_over_limit == sum - std::min(sum, max));
    CHECK(hour.series_over_limit <= max);  // each has brought six with room, and six without
}
