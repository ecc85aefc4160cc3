// Whole histograms over hours and days, reloads, restarts, and from several threads.
#include <thread>

#include "limit/figures.hpp"
#include "limit/histograms.hpp"
#include "limit/limiter.hpp"
#include "limit/snapshot.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a histogram has to begin anew in every hour") {
    histogram_offering gate{whole(15), at(10)};
    CHECK(gate.accept(joined(latency(1), latency(2)), at(10)) == 24);
    CHECK(gate.hourly().series_over_limit == 9);
    CHECK(gate.accept(joined(gauges(0, 15), latency(1)), at(11)) == 15);
    CHECK(gate.hourly() == counts{.current = 15, .over_limit = 0});
    CHECK(gate.daily() == counts{.current = 39, .over_limit = 0});
}

TEST_CASE("what the day has begun it completes, if the hour has room") {
    histogram_offering gate{whole(20, 15), at(10)};
    CHECK(gate.accept(gauges(0, 12), at(10)) == 12);
    CHECK(gate.accept(part(latency(1), 0, 3), at(10)) == 3);
    CHECK(gate.accept(latency(2), at(10)) == 0);

    SECTION("in the same hour") {
        CHECK(gate.accept(latency(1), at(10)) == 12);
        CHECK(gate.hourly() == counts{.current = 24, .over_limit = 4});
    }
    SECTION("in another") {
        leap(gate.limiter, at(12));
        CHECK(gate.accept(latency(1), at(12)) == 12);
        CHECK(gate.hourly() == counts{.current = 12, .over_limit = 0});
    }
    SECTION("not without room in the hour") {
        leap(gate.limiter, at(12));
        CHECK(gate.accept(gauges(0, 12), at(12)) == 12);
        gate.limiter.reconfigure(whole(12, 15));
        CHECK(gate.accept(latency(1), at(12)) == 0);
        CHECK(gate.accept(latency(1), at(13)) == 12);
        CHECK(gate.hourly().series_over_limit == 0);
    }
    CHECK(gate.daily() == counts{.current = 24, .over_limit = 9});
    CHECK(gate.accept(latency(2), at(13, 30)) == 0);  // a leap for who is still at ten, and not believed yet

    leap(gate.limiter, at(0, 0, 0, 1));
    CHECK(gate.accept(latency(2), at(0, 0, 0, 1)) == 12);
    CHECK(gate.daily() == counts{.current = 12, .over_limit = 0});
}

TEST_CASE("incumbents come back whole, the overshoot too as far as begun, and newcomers are refused whole") {
    limit_rules settings = whole(30);
    settings.incumbent_grace = std::chrono::minutes{10};
    histogram_offering gate{settings, at(10)};
    const series_list known = joined(latency(1), joined(latency(2), latency(3)));
    CHECK(gate.accept(known, at(10)) == 36);
    CHECK(gate.hourly().series_over_limit == 6);

    CHECK(gate.accept(latency(9), at(11)) == 0);
    CHECK(gate.accept(known, at(11, 1)) == 36);
    CHECK(gate.accept(joined(latency(9), gauges(0, 3)), at(11, 9)) == 0);
    CHECK(gate.hourly() == counts{.current = 36, .over_limit = 6});
    CHECK(gate.accept(latency(9), at(11, 11)) == 0);
}

TEST_CASE("a newcomer completes its histogram beside the room that is kept for incumbents") {
    limit_rules settings = whole(30);
    settings.incumbent_grace = std::chrono::minutes{10};
    histogram_offering gate{settings, at(10)};
    gate.accept(gauges(0, 20), at(10));
    CHECK(gate.accept(gauges(50, 5), at(11)) == 5);
    CHECK(gate.accept(latency(1), at(11)) == 12);
    CHECK(gate.hourly() == counts{.current = 17, .over_limit = 7});
    CHECK(gate.accept(latency(2), at(11)) == 0);
    SECTION("all of them return") {
        CHECK(gate.accept(gauges(0, 20), at(11, 5)) == 20);
        CHECK(gate.hourly().series_current == 37);
    }
    SECTION("some do: what was over the limit takes the room of the others") {
        CHECK(gate.accept(gauges(0, 10), at(11, 5)) == 10);
        CHECK(gate.accept(gauges(100, 9), at(11, 10)) == 3);
        CHECK(gate.hourly() == counts{.current = 30, .over_limit = 7});
    }
}

TEST_CASE("an incumbent is not refused because a new bucket of its histogram was") {
    limit_rules settings = whole(12);
    settings.incumbent_grace = std::chrono::minutes{10};
    histogram_offering gate{settings, at(10)};
    gate.accept(latency(1), at(10));
    CHECK(gate.accept({named("latency_bucket", {{"le", "99"}, {"pod", "1"}})}, at(11)) == 0);
    CHECK(gate.accept(latency(1), at(11)) == 12);
}

TEST_CASE("the option comes and goes with a reload, and what had begun is remembered") {
    limit_rules off = whole(20);
    off.whole_histograms = false;
    histogram_offering gate{whole(20), at(10)};
    gate.accept(gauges(0, 19), at(10));
    CHECK(gate.accept(part(latency(1), 0, 4), at(10)) == 4);
    CHECK(gate.hourly().series_over_limit == 3);

    gate.limiter.reconfigure(off);
    CHECK(gate.accept(latency(1), at(10)) == 4);
    CHECK(gate.hourly() == counts{.current = 23, .over_limit = 3});

    gate.limiter.reconfigure(whole(20));
    CHECK(gate.accept(latency(1), at(10)) == 12);
    CHECK(gate.accept(latency(2), at(10)) == 0);
    CHECK(gate.hourly() == counts{.current = 31, .over_limit = 11});
}

TEST_CASE("what was admitted while the option was off has not begun any histogram") {
    limit_rules off = whole(20);
    off.whole_histograms = false;
    histogram_offering gate{off, at(10)};
    gate.accept(gauges(0, 17), at(10));
    CHECK(gate.accept(latency(1), at(10)) == 3);
    gate.limiter.reconfigure(whole(20));
    CHECK(gate.accept(latency(1), at(10)) == 3);
    CHECK(gate.accept(latency(1), at(11)) == 12);
}

TEST_CASE("a raised limit has room for what was over it first, a limit that goes counts all") {
    histogram_offering gate{whole(3), at(10)};
    gate.accept(latency(1), at(10));
    const auto [max, room] = GENERATE(table<std::uint64_t, std::uint64_t>({{2, 0}, {8, 0}, {12, 0}, {17, 5}, {0, 40}}));
    gate.limiter.reconfigure(whole(max));
    CHECK(gate.accept(gauges(0, 40), at(10)) == room);
    CHECK(gate.hourly() == counts{.current = 12 + room, .over_limit = 9});
}

TEST_CASE("a snapshot remembers which histograms have begun, and what was over the limits") {
    histogram_offering before{whole(20, 20), at(10)};
    before.accept(gauges(0, 19), at(10));
    CHECK(before.accept(part(latency(1), 0, 4), at(10)) == 4);
    const std::string bytes = saved(before.limiter);

    SECTION("with the option on") {
        histogram_offering gate{whole(20, 20), at(10)};
        REQUIRE(restored(gate.limiter, bytes, at(10)));
        CHECK(gate.hourly() == counts{.current = 23, .over_limit = 3});
        CHECK(gate.daily().series_over_limit == 3);
        CHECK(gate.accept(latency(1), at(10)) == 12);
        CHECK(gate.accept(latency(2), at(10)) == 0);
        CHECK(gate.hourly().series_over_limit == 11);
        CHECK(gate.daily().series_current == 31);
    }
    SECTION("with the option off") {
        limit_rules off = whole(20, 20);
        off.whole_histograms = false;
        histogram_offering gate{off, at(10)};
        REQUIRE(restored(gate.limiter, bytes, at(10)));
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
    histogram_offering gate{whole(2, 2), at(10)};
    REQUIRE(restored(gate.limiter, sink.bytes, at(11)));
    CHECK(gate.hourly().series_current == 3);
    CHECK(gate.accept(latency(1), at(11)) == 12);
    CHECK(gate.hourly().series_current == 12);
    CHECK(gate.daily().series_over_limit == 10);
    CHECK(gate.accept(latency(2), at(11)) == 0);
}

TEST_CASE("more histograms than the filter was made for: nobody is refused, the rate stays, memory grows") {
    histogram_offering gate{whole(150'000), at(10)};
    const double promised = 1e-9;
    for (int pod = 0; pod < 20'000; ++pod) {
        gate.accept(part(latency(pod), 0, 1), at(10));
        if (pod % 1'000 == 0) gate.limiter.maintain(at(10));
    }
    for (int pod = 0; pod < 20'000; ++pod) {
        if (gate.accept(latency(pod), at(10)) != 12) FAIL("histogram " << pod << " is not whole");
        if (pod % 1'000 == 0) gate.limiter.maintain(at(10));
    }
    CHECK(gate.hourly() == counts{.current = 240'000, .over_limit = 90'000});
    CHECK(gate.hourly().false_positive_rate <= promised);
}

TEST_CASE("threads that bring parts of the same histograms admit them whole, and count exactly") {
    constexpr int pods = sanitized ? 200 : 1'000;
    constexpr std::uint64_t max = 1'500;
    histogram_offering shared{whole(max), at(10)};
    std::vector<std::vector<std::uint64_t>> accepted(2, std::vector<std::uint64_t>(pods));
    const auto send = [&](std::size_t half) {
        undecided scratch;
        shown_labels labels;
        for (int round = 0; round < 3; ++round)
            for (int pod = 0; pod < pods; ++pod) {
                series_list sent;
                for (std::size_t i = half; i < 12; i += 2) sent.push_back(latency(pod)[i]);
                std::vector<offered_series> offered;
                labels.entries.clear();
                for (const label_set& each : sent) {
                    offered.push_back(
                        {.fingerprint = fingerprint_in({.labels = each}, 0), .samples = 1, .admits = true});
                    labels.entries.push_back(views_of(each));
                }
                std::vector<verdict> verdicts(offered.size(), verdict::unknown);
                shared.limiter.decide(offered, at(10), verdicts, scratch, {.tenant = {}, .labels = &labels});
                accepted[half][static_cast<std::size_t>(pod)] =
                    static_cast<std::uint64_t>(std::ranges::count_if(verdicts, is_accepted));
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
