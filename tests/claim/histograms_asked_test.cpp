// Where histograms are kept whole: which of their series are asked about, and when.
#include <algorithm>

#include "claim/asking.hpp"
#include "limit/figures.hpp"
#include "limit/histograms.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

limit_rules by_metric() {
    limit_rules made = whole(100);
    made.limits.push_back(limit_each("metrics", "__name__", {.hourly = 20}));
    return made;
}

/// A gate of a fleet, and requests with histograms.
struct scene : asking {
    explicit scene(const limit_rules& rules = by_metric()) : asking(rules) {}

    /// Numbered from `first`: the request's series.
    std::span<const claim> ask_about(const series_list& sent, std::uint64_t first = 0) {
        start();
        for (std::size_t i = 0; i < sent.size(); ++i) add(sent[i], first + i);
        return ask();
    }

    /// As many answers as there are claims, the last `count` of which are these.
    std::vector<std::optional<claim_answer>> answers{};
    void answer(series_answer each) {
        while (answers.size() < asked.claims().size())
            answers.push_back(answering(asked.claims()[answers.size()], each));
    }
    std::vector<verdict> settle(const told& said) {
        std::vector<verdict> verdicts(offered.size(), verdict::unknown);
        REQUIRE(limiter.commit(offered, at(10, 30), verdicts, open, {.tenant = tenant}, &said));
        answers.clear();
        return verdicts;
    }
    std::vector<verdict> settle() { return settle(asked.tell(answers, told_outcome::withheld)); }
};

const series_answer taken{.outcome = claim_outcome::taken};
const series_answer refused{.outcome = claim_outcome::refused, .budget = 1};

}  // namespace

TEST_CASE("sums and counts are asked about when the buckets are answered") {
    scene gate;
    const auto first = gate.ask_about(latency(1));
    REQUIRE(first.size() == 1);
    CHECK(first[0].fingerprints == fingerprints(0, 10));
    REQUIRE(first[0].families.size() == 10);
    const std::uint64_t family = first[0].families[0];
    CHECK(first[0].families == std::vector<std::uint64_t>(10, family));
    gate.answer(taken);
    CHECK(gate.asked.ask_rest(gate.answers));
    REQUIRE(gate.asked.claims().size() == 2);
    CHECK(gate.asked.claims()[1].fingerprints == fingerprints(10, 2));
    CHECK(gate.asked.claims()[1].families == std::vector<std::uint64_t>(2, family));
    gate.answer({.outcome = claim_outcome::taken, .completed = {.hour = true, .day = false}});
    CHECK_FALSE(gate.asked.ask_rest(gate.answers));
    CHECK(gate.settle() == std::vector<verdict>(12, verdict::admitted));
    const limiter_figures shown = figures_of(gate.limiter);
    CHECK(shown.hourly.series_over_limit == 2);
    CHECK(shown.daily.series_over_limit == 0);
    CHECK(gate.limiter.has_begun(family));
}

TEST_CASE("what was completed is counted also if it is known by the time of the answer") {
    scene gate{whole(1)};
    gate.ask_about(part(latency(1), 0, 2));
    gate.answer({.outcome = claim_outcome::taken, .completed = {.hour = true, .day = true}});
    const lookup_result open = gate.open;
    gate.settle(gate.asked.tell(gate.answers, told_outcome::withheld));
    gate.open = open;  // another request with the same, whose answer comes later
    gate.answer({.outcome = claim_outcome::taken, .completed = {.hour = true, .day = false}});
    CHECK(gate.settle() == std::vector<verdict>(2, verdict::known));
    CHECK(figures_of(gate.limiter).hourly.series_over_limit == 4);
    CHECK(figures_of(gate.limiter).daily.series_over_limit == 2);
}

TEST_CASE("a refused bucket refuses the sum and the count unasked, and the rest of the histogram later") {
    scene gate;
    const std::uint64_t family = gate.ask_about(latency(1))[0].families[0];
    gate.answer(refused);
    CHECK(gate.asked.ask_rest(gate.answers));
    CHECK(gate.asked.claims().size() == 1);
    CHECK(gate.asked.unasked_count() == 2);
    CHECK_FALSE(gate.asked.ask_rest(gate.answers));
    CHECK(gate.settle() == std::vector<verdict>(12, verdict::refused_hourly));
    CHECK(gate.limiter.has_refused(family));
    CHECK(gate.open.refused_by[11] == gate.open.refused_by[0]);
    CHECK(gate.limiter.limit_name(gate.open.refused_by[11]) == "metrics");
    CHECK(figures_of(gate.limiter).hourly.series_refused == 12);

    CHECK(gate.ask_about(latency(1), 50).empty());  // twelve others of the same
    CHECK(gate.asked.unasked_count() == 12);
    CHECK_FALSE(gate.asked.ask_rest({}));
    CHECK(gate.settle() == std::vector<verdict>(12, verdict::refused_hourly));
    CHECK(gate.limiter.limit_name(gate.open.refused_by[5]) == "metrics");
    CHECK(gate.ask_about(latency(2), 100).size() == 1);
}

TEST_CASE("what the store takes is accepted, whatever this gate has refused of its histogram") {
    scene gate;
    gate.ask_about(part(latency(1), 0, 5));
    gate.answer(refused);
    gate.settle();
    gate.ask_about(part(latency(1), 5, 2), 5);
    const told said{.hour = hour_of(at(10)),
                    .pending = {{.outcome = told_outcome::taken}, {.outcome = told_outcome::known}}};
    CHECK(gate.settle(said) == std::vector{verdict::admitted, verdict::known});
}

TEST_CASE("a spent budget leaves series of a histogram that has begun to the store") {
    scene gate{whole(10)};
    gate.ask_about(part(latency(1), 0, 2));
    gate.answer(taken);
    gate.settle();
    gate.counted.of = [](std::int64_t, std::uint64_t) { return known_count{.hourly = 10}; };
    const auto claims = gate.ask_about(joined(part(latency(1), 2, 10), latency(2)), 2);
    REQUIRE(claims.size() == 1);
    CHECK(claims[0].fingerprints == fingerprints(2, 10));
    CHECK(gate.asked.unasked_count() == 10);
    gate.answer(taken);
    CHECK(gate.asked.ask_rest(gate.answers));
    CHECK(gate.asked.claims().size() == 1);
    CHECK(gate.asked.unasked_count() == 12);
    std::vector<verdict> wanted(22, verdict::refused_hourly);
    std::fill_n(wanted.begin(), 10, verdict::admitted);
    CHECK(gate.settle() == wanted);
}

TEST_CASE("a sum of a spent budget is asked about when its bucket was taken, and only then") {
    scene gate;
    CHECK(gate.ask_about({latency(1)[10]}).empty());
    CHECK(gate.asked.ask_rest({}));
    const std::uint64_t sums = gate.asked.claims()[0].budgets[1].id;
    gate.counted.of = [sums](std::int64_t, std::uint64_t id) { return known_count{.hourly = id == sums ? 20u : 0u}; };

    CHECK(gate.ask_about(latency(1)).size() == 1);
    gate.answer(taken);
    CHECK(gate.asked.ask_rest(gate.answers));
    REQUIRE(gate.asked.claims().size() == 2);
    CHECK(gate.asked.claims()[1].fingerprints == fingerprints(10, 2));
    CHECK(gate.asked.unasked_count() == 0);
    gate.answer(taken);
    CHECK(gate.settle() == std::vector<verdict>(12, verdict::admitted));

    CHECK(gate.ask_about({latency(2)[10], latency(2)[11]}, 100).empty());
    CHECK(gate.asked.ask_rest({}));
    REQUIRE(gate.asked.claims().size() == 1);
    CHECK(gate.asked.claims()[0].fingerprints == fingerprints(101, 1));
    CHECK(gate.asked.unasked_count() == 1);
    gate.answer(taken);
    CHECK(gate.settle() == std::vector{verdict::refused_hourly, verdict::admitted});
}

TEST_CASE("without an answer about the buckets nobody is asked about the sum") {
    scene gate;
    gate.ask_about(latency(1));
    const told said = gate.asked.tell_nothing(told_outcome::let_pass);
    REQUIRE(said.pending.size() == 12);
    for (const told_series& each : said.pending) CHECK(each.outcome == told_outcome::let_pass);
    CHECK(gate.settle(said) == std::vector<verdict>(12, verdict::admitted));
}

TEST_CASE("what is told too late of a histogram decides all of the request and is remembered nowhere") {
    scene gate;
    const std::uint64_t family = gate.ask_about(latency(1))[0].families[0];
    gate.answer(refused);
    while (gate.asked.ask_rest(gate.answers)) gate.answer(refused);
    const told said = gate.asked.tell(gate.answers, told_outcome::withheld);
    std::vector<verdict> verdicts(12, verdict::unknown);
    REQUIRE(gate.limiter.commit(gate.offered, at(11, 1), verdicts, gate.open, {.tenant = gate.tenant}, &said));
    CHECK(verdicts == std::vector<verdict>(12, verdict::refused_hourly));
    CHECK_FALSE(gate.limiter.has_refused(family));
}
