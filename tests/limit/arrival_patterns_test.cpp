// However fast series come, the filters keep the rate that they promise: no segment is filled beyond its capacity.
#include <atomic>
#include <cmath>
#include <thread>

#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace seriesgate::testing::arrival_patterns_test {
namespace {

constexpr double rate = 1e-4;

/// Four standard deviations above what the promise allows.
std::uint64_t most(std::uint64_t asked) {
    const double mean = rate * static_cast<double>(asked);
    return static_cast<std::uint64_t>(mean + 4 * std::sqrt(mean) + 4);
}

void check_rates(const series_limiter& limiter, double promised = rate) {
    const auto figures = figures_of(limiter);
    CHECK(figures.hourly.false_positive_rate <= promised);
    CHECK(figures.daily.false_positive_rate <= promised);
}

}  // namespace

TEST_CASE("one request as large as the limit fills no filter beyond its rate, and after it newcomers are refused") {
    const std::uint64_t max = sanitized ? 150'000 : 500'000;
    offering gate{{.global = {.hourly = max}}, at(10)};  // and nobody does maintenance
    CHECK(gate.accepted(series(0, max), at(10)) >= max - most(max));
    check_rates(gate.limiter);
    const std::uint64_t newcomers = sanitized ? 100'000 : 400'000;
    CHECK(gate.accepted(series(10'000'000, newcomers), at(10)) <= most(newcomers) + most(max));

    SECTION("also after a restart") {
        restarted<offering> again{{.global = {.hourly = max}}, saved(gate.limiter), at(10, 1)};
        check_rates(again.limiter);
        CHECK(again.accepted(series(20'000'000, newcomers), at(10, 1)) <= most(newcomers) + most(max));
    }
}

TEST_CASE("sixteen senders at once fill no filter beyond its rate", "[filter]") {
    constexpr std::uint64_t senders = 16;
    const std::uint64_t requests = sanitized ? 2 : 8;
    series_limiter limiter{{}, at(10)};
    std::vector<std::thread> threads;
    for (std::uint64_t sender = 0; sender < senders; ++sender)
        threads.emplace_back([&limiter, sender] {
            lookup_result scratch;
            std::vector<verdict> verdicts(10'000);
            for (std::uint64_t i = 0; i < requests; ++i)
                limiter.decide(series((sender * requests + i) * 10'000, 10'000), at(10), verdicts, scratch);
        });
    for (auto& thread : threads) thread.join();
    const std::uint64_t all = senders * requests * 10'000;
    check_rates(limiter);
    CHECK(figures_of(limiter).hourly.series_current >= all - most(all));
    CHECK(figures_of(limiter).hourly.series_current <= all);
}

TEST_CASE("under random arrival patterns no filter's rate is above what was promised", "[filter]") {
    const std::uint64_t patterns = sanitized ? 15 : 700;
    for (std::uint64_t pattern = 0; pattern < patterns; ++pattern) {
        CAPTURE(pattern);
        random_numbers random{pattern};
        const double promised = std::array{1e-2, 1e-3, 1e-4, 1e-5}[random.below(4)];
        // From hundreds to hundreds of thousands, as often of one magnitude as of another.
        const auto up_to = [&random](double exponent) {
            return static_cast<std::uint64_t>(
                std::pow(10, 2.5 + exponent * static_cast<double>(random.below(1'000)) / 1e3));
        };
        const std::uint64_t count = up_to(3);
        limit_rules settings{
            .global = {.hourly = random.one_in(2) ? up_to(3) : 0, .daily = random.one_in(3) ? up_to(3) : 0},
            .false_positive_rate = promised,
            .incumbent_grace = random.one_in(2) ? 10min : 0min};
        settings.whole_histograms = random.one_in(5);
        offering gate{settings, at(22)};
        time_point now = at(22);
        for (std::uint64_t done = 0; done < count;) {
            const std::uint64_t next = std::min(count - done, up_to(random.one_in(4) ? 3 : 1.5));
            gate.offer(series(done, next), now);
            done += next;
            if (random.one_in(3)) gate.limiter.maintain(now);
            if (random.one_in(8)) {
                settings.global.hourly = random.one_in(2) ? up_to(3) : 0;
                gate.limiter.reconfigure(settings);
            }
            if (random.one_in(6)) now += std::chrono::minutes{static_cast<std::int64_t>(random.below(60))};
            const auto figures = figures_of(gate.limiter);
            if (figures.hourly.false_positive_rate > promised || figures.daily.false_positive_rate > promised)
                FAIL("hour " << figures.hourly.false_positive_rate << ", day " << figures.daily.false_positive_rate
                             << " of " << promised << " after " << done);
        }
    }
}

TEST_CASE("a newcomer is taken for an incumbent as rarely as two filters err at once, also in the hour after a start") {
    const std::uint64_t known = 110'000;
    const std::uint64_t newcomers = sanitized ? 50'000 : 300'000;
    offering gate{{.global = {.hourly = known}, .false_positive_rate = 1e-2}, at(10)};
    gate.offer(series(0, known + 10'000), at(10));  // spent, though some of them passed uncounted
    REQUIRE(gate.hourly().series_current == known);
    // All room is reserved, so who gets in is an incumbent, or was taken for one: once in 10,000 at the most. With the
    // same places in both filters it was once in 200.
    CHECK(gate.accepted(series(1'000'000, newcomers), at(11)) <= newcomers / 10'000 + 25);
}

TEST_CASE("a long request lets others have their turn", "[slow]") {
    const std::uint64_t count = sanitized ? 100'000 : 1'000'000;
    offering gate{{}, at(10)};
    std::atomic<bool> begun{false};
    std::atomic<bool> done{false};
    std::thread sender{[&] {
        const auto offered = series(0, count);
        begun = true;
        gate.offer(offered, at(10));
        done = true;
    }};
    while (!begun) std::this_thread::yield();
    std::uint64_t turns = 0;
    lookup_result scratch;
    std::vector<verdict> verdicts(1);
    for (std::uint64_t i = 0; !done; ++i) {
        gate.limiter.decide(series((std::uint64_t{1} << 40) + i, 1), at(10), verdicts, scratch);
        turns += done ? 0 : 1;
    }
    sender.join();
    // Under one lock for all of it there would be one turn, or none.
    CHECK(turns >= 50);
}

TEST_CASE("reloads that come in the middle of a long request leave no series undecided", "[slow]") {
    const std::uint64_t count = sanitized ? 2'000 : 20'000;
    limit_rules plain;
    limit_rules whole;
    whole.whole_histograms = true;
    labelled_offering gate{plain, at(10)};
    std::atomic<bool> done{false};
    int reloads = 0;
    std::thread reloading{[&] {
        for (; !done; ++reloads) {
            gate.limiter.reconfigure(reloads % 2 == 0 ? whole : plain);
            std::this_thread::sleep_for(1ms);  // each makes the request begin anew
        }
    }};
    std::uint64_t lookup_result = 0;
    for (std::uint64_t round = 0; round < 10; ++round) {
        // Sums and buckets in turn: where histograms are kept whole, the sums are for the second round.
        const batch sums{.labels = {{"__name__", "x_sum"}}, .first = round * count, .count = count};
        gate.prepare(sums);
        for (std::size_t i = 0; i < gate.labels.entries.size(); i += 2)
            gate.labels.entries[i] = {{"__name__", "x_bucket"}, {"le", "1"}};
        std::ranges::fill(gate.verdicts, verdict::unknown);
        gate.limiter.decide(gate.offered, at(10), gate.verdicts, gate.scratch, {.tenant = {}, .labels = &gate.labels});
        lookup_result += static_cast<std::uint64_t>(std::ranges::count(gate.verdicts, verdict::unknown));
    }
    done = true;
    reloading.join();
    CHECK(lookup_result == 0);
    CHECK(reloads > 20);  // of ten requests
}

}  // namespace seriesgate::testing::arrival_patterns_test
