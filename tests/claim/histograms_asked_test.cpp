// Where histograms are kept whole: which of their series are asked about, and when.

#include "claim/asking.hpp"
#include "limit/figures.hpp"
#include "limit/histograms.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

limit_rules by_metric() {
    limit_rules made = whole(100);
    made.limits.push_back(limit_named("metrics", {"__name__"}, {.hourly = 20}));
    return made;
}

/// A gate of a fleet, and requests with histograms.
struct scene : asking {
    explicit scene(const limit_rules& rules = by_metric()) : asking(rules) {}

    /// Numbered from `first`: the request's series.
    std::span<const store_call> ask_about(const series_list& sent, std::uint64_t first = 0,
                                          time_point now = at(10, 30)) {
        start();
        for (std::size_t i = 0; i < sent.size(); ++i) add(sent[i], first + i);
        return ask(now);
    }
    /// Admits them, and goes on to eleven o'clock, when they are carried over.
    void carry_over(const series_list& sent) {
        ask_about(sent);
        answer(taken).settle();
        enter_eleven();
        view.hear_record({}, hour_number(at(11)), &fleet_view::budget_counts::before);
    }
    /// Of the first series.
    [[nodiscard]] std::uint64_t family() const { return open.families.at(0).fingerprint; }
};

const series_decision refused{.outcome = store_outcome::refused, .budget = 1};
const series_decision completed_in_hour{.outcome = store_outcome::completed, .without_room = {.hour = true}};

}  // namespace

TEST_CASE("sums and counts are asked about when the buckets are answered") {
    scene gate;
    const auto first = gate.ask_about(latency(1));
    REQUIRE(first.size() == 1);
    CHECK(first[0].fingerprints == fingerprints(0, 10));
    CHECK(first[0].runs == runs{{.series = 10, .budgets = places{0, 1}}});
    CHECK(first[0].budgets[0].completions == series_maxima{.hourly = 200});
    CHECK(gate.answer(taken).ask_rest());
    REQUIRE(gate.asked.calls().size() == 2);
    CHECK(gate.asked.calls()[1].fingerprints == fingerprints(10, 2));
    CHECK(gate.asked.calls()[1].runs == runs{{.series = 1, .budgets = places{0, 1}, .completes = true},
                                             {.series = 1, .budgets = places{0, 2}, .completes = true}});
    gate.answer(completed_in_hour);
    CHECK_FALSE(gate.ask_rest());
    CHECK(gate.settle() == std::vector<verdict>(12, verdict::admitted));
    const limiter_figures shown = figures_of(gate.limiter);
    CHECK(shown.hourly.series_over_limit == 2);
    CHECK(shown.daily.series_over_limit == 0);
    CHECK(gate.limiter.hour_has(gate.family()));
}

TEST_CASE("a bucket that is taken begins the histogram for those that were refused beside it") {
    scene gate;
    gate.ask_about(latency(1));
    gate.answer(refused).answers[0]->series[9] = taken;
    CHECK(gate.ask_rest());
    REQUIRE(gate.asked.calls().size() == 2);
    CHECK(gate.asked.calls()[1].fingerprints.size() == 11);
    CHECK(std::ranges::count(gate.asked.calls()[1].fingerprints, fingerprint_of(9)) == 0);
    for (const series_run& each : gate.asked.calls()[1].runs) CHECK(each.completes);
    gate.answer(completed_in_hour);
    for (std::size_t i = 0; i < 5; ++i) gate.answers[1]->series[i] = refused;  // the completions are spent
    std::vector<verdict> wanted(12, verdict::admitted);
    std::fill_n(wanted.begin(), 5, verdict::refused_hourly);
    CHECK(gate.settle() == wanted);
    CHECK(gate.asked.unasked_count() == 0);
}

TEST_CASE("where nobody answers whether they complete it, refused buckets are not remembered") {
    scene gate;
    gate.ask_about(latency(1));
    gate.answer(refused).answers[0]->series[9] = taken;
    std::vector<verdict> wanted(12, verdict::refused_hourly);
    wanted[9] = verdict::admitted;
    CHECK(gate.commit(gate.decide()) == wanted);
    CHECK_FALSE(gate.limiter.has_refused(gate.family()));
    CHECK(gate.ask_about(part(latency(1), 0, 9))[0].runs[0].completes);
}

TEST_CASE("a bucket of the hour before begins the histogram for those of a spent budget") {
    scene gate{whole(100)};
    gate.carry_over(part(latency(1), 0, 1));
    gate.hear(gate.ask_about(joined(latency(1), latency(2)), 0, at(11))[0].budgets[0].id, 100);
    CHECK(gate.ask_about(joined(latency(1), latency(2)), 0, at(11)).empty());
    CHECK(gate.asked.unasked_count() == 19);
    CHECK(gate.ask_rest());
    REQUIRE(gate.asked.calls().size() == 1);
    CHECK(gate.asked.calls()[0].fingerprints == fingerprints(1, 11));
    CHECK(gate.asked.unasked_count() == 12);
    std::vector<verdict> wanted(24, verdict::refused_hourly);
    std::fill_n(wanted.begin(), 12, verdict::admitted);
    CHECK(gate.answer(completed_in_hour).settle(at(11)) == wanted);
}

TEST_CASE("sums need room where no bucket was taken, beside those that complete") {
    scene gate{whole(100)};
    gate.ask_about(joined(latency(1), part(latency(2), 10, 2)));
    CHECK(gate.answer(taken).ask_rest());
    REQUIRE(gate.asked.calls().size() == 2);
    CHECK(gate.asked.calls()[1].fingerprints == fingerprints(10, 4));
    CHECK(gate.asked.calls()[1].runs ==
          runs{{.series = 2, .budgets = places{0}, .completes = true}, {.series = 2, .budgets = places{0}}});
}

TEST_CASE("what was completed is counted also if it is known by the time of the answer") {
    scene gate{whole(1, 1)};
    gate.ask_about(part(latency(1), 0, 2));
    gate.answer({.outcome = store_outcome::completed, .without_room = {.hour = true, .day = true}});
    const lookup_result open = gate.open;
    gate.settle();
    gate.answers.clear();
    gate.open = open;  // another request with the same, whose answer comes later
    CHECK(gate.answer(completed_in_hour).settle() == std::vector<verdict>(2, verdict::known));
    CHECK(figures_of(gate.limiter).hourly.series_over_limit == 4);
    CHECK(figures_of(gate.limiter).daily.series_over_limit == 2);
}

TEST_CASE("a refused bucket refuses the sum and the count unasked, and the rest of the histogram later") {
    scene gate;
    gate.ask_about(latency(1));
    CHECK(gate.answer(refused).ask_rest());
    CHECK(gate.asked.calls().size() == 1);
    CHECK(gate.asked.unasked_count() == 2);
    CHECK_FALSE(gate.ask_rest());
    const fleet_decision said = gate.decide();
    CHECK(said.pending[11].outcome == decision_outcome::refused_with_histogram);
    CHECK(said.pending[11].like == 0u);  // the first of its buckets
    CHECK(gate.commit(said) == std::vector<verdict>(12, verdict::refused_hourly));
    CHECK(gate.limiter.has_refused(gate.family()));
    CHECK(gate.open.refused_by[11] == gate.open.refused_by[0]);
    CHECK(gate.limiter.limit_name(gate.open.refused_by[11]) == "metrics");
    CHECK(figures_of(gate.limiter).hourly.series_refused == 12);

    CHECK(gate.ask_about(latency(1), 50).empty());  // twelve others of the same
    CHECK(gate.asked.unasked_count() == 12);
    CHECK_FALSE(gate.ask_rest());
    CHECK(gate.settle() == std::vector<verdict>(12, verdict::refused_hourly));
    CHECK(gate.limiter.limit_name(gate.open.refused_by[5]) == "metrics");
    CHECK(gate.ask_about(latency(2), 100).size() == 1);
}

TEST_CASE("what the store takes is accepted, whatever this gate has refused of its histogram") {
    scene gate;
    gate.ask_about(part(latency(1), 0, 5));
    gate.answer(refused).settle();
    gate.ask_about(part(latency(1), 5, 2), 5);
    const fleet_decision said{.hour = hour_of(at(10)),
                              .pending = {{.outcome = decision_outcome::taken}, {.outcome = decision_outcome::known}}};
    CHECK(gate.commit(said) == std::vector{verdict::admitted, verdict::known});
}

TEST_CASE("a spent budget leaves series of a histogram that has begun to the store") {
    scene gate{whole(10)};
    const std::uint64_t global = gate.ask_about(part(latency(1), 0, 2))[0].budgets[0].id;
    gate.answer(taken).settle();
    gate.hear(global, 10);
    const auto calls = gate.ask_about(joined(part(latency(1), 2, 10), latency(2)), 2);
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].fingerprints == fingerprints(2, 10));
    CHECK(calls[0].runs == runs{{.series = 10, .budgets = places{0}, .completes = true}});
    CHECK(gate.asked.unasked_count() == 10);
    CHECK(gate.answer(taken).ask_rest());
    CHECK(gate.asked.calls().size() == 1);
    CHECK(gate.asked.unasked_count() == 12);
    std::vector<verdict> wanted(22, verdict::refused_hourly);
    std::fill_n(wanted.begin(), 10, verdict::admitted);
    CHECK(gate.settle() == wanted);
}

TEST_CASE("buckets of a spent budget refuse their sum, for which there is room") {
    scene gate;
    gate.hear(gate.ask_about(latency(1))[0].budgets[1].id, 20);
    CHECK(gate.ask_about(latency(1)).empty());
    CHECK(gate.ask_rest());
    CHECK(gate.asked.calls().empty());
    CHECK(gate.asked.unasked_count() == 12);
    CHECK(gate.settle() == std::vector<verdict>(12, verdict::refused_hourly));
}

TEST_CASE("a sum of a spent budget is asked about when its bucket was taken, and only then") {
    scene gate;
    CHECK(gate.ask_about({latency(1)[10]}).empty());
    CHECK(gate.ask_rest());
    CHECK(gate.asked.calls()[0].runs == runs{{.series = 1, .budgets = places{0, 1}}});
    gate.hear(gate.asked.calls()[0].budgets[1].id, 20);

    CHECK(gate.ask_about(latency(1)).size() == 1);
    CHECK(gate.answer(taken).ask_rest());
    REQUIRE(gate.asked.calls().size() == 2);
    CHECK(gate.asked.calls()[1].fingerprints == fingerprints(10, 2));
    CHECK(gate.asked.unasked_count() == 0);
    CHECK(gate.answer(taken).settle() == std::vector<verdict>(12, verdict::admitted));

    CHECK(gate.ask_about({latency(2)[10], latency(2)[11]}, 100).empty());
    CHECK(gate.ask_rest());
    REQUIRE(gate.asked.calls().size() == 1);
    CHECK(gate.asked.calls()[0].fingerprints == fingerprints(101, 1));
    CHECK(gate.asked.unasked_count() == 1);
    CHECK(gate.answer(taken).settle() == std::vector{verdict::refused_hourly, verdict::admitted});
}

TEST_CASE("a sum completes the histogram whose buckets pass unasked") {
    scene gate{whole(100)};
    gate.carry_over(part(latency(1), 0, 10));
    CHECK(gate.ask_about(latency(1), 0, at(11)).empty());
    CHECK(gate.ask_rest());
    REQUIRE(gate.asked.calls().size() == 1);
    CHECK(gate.asked.calls()[0].fingerprints == fingerprints(10, 2));
    CHECK(gate.asked.calls()[0].runs == runs{{.series = 2, .budgets = places{0}, .completes = true}});
    CHECK(gate.answer(taken).settle(at(11)) == std::vector<verdict>(12, verdict::admitted));
}

TEST_CASE("without an answer about the buckets there is none about the sum, and nothing is remembered") {
    scene gate;
    gate.ask_about(latency(1));
    SECTION("none came") {}
    SECTION("the store waits for a refill") {
        gate.answer({.outcome = store_outcome::waits});
    }
    const fleet_decision withheld = gate.decide();
    for (const series_run& each : gate.asked.calls()[1].runs) CHECK_FALSE(each.completes);
    CHECK(gate.commit(withheld) == std::vector<verdict>(12, verdict::refused_hourly));
    CHECK_FALSE(gate.limiter.has_refused(gate.family()));

    gate.ask_about(latency(1));
    const fleet_decision passing = gate.decide(decision_outcome::passes);
    REQUIRE(passing.pending.size() == 12);
    for (const pending_decision& each : passing.pending) CHECK(each.outcome == decision_outcome::passes);
    CHECK(gate.commit(passing) == std::vector<verdict>(12, verdict::admitted));
    CHECK(gate.limiter.hour_has(gate.family()));
}

TEST_CASE("what is told too late of a histogram decides all of the request and is remembered nowhere") {
    scene gate;
    gate.ask_about(latency(1));
    const std::uint64_t family = gate.family();
    CHECK(gate.answer(refused).settle(at(11, 1)) == std::vector<verdict>(12, verdict::refused_hourly));
    CHECK_FALSE(gate.limiter.has_refused(family));
}
