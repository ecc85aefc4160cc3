// Histograms that are kept whole, rule by rule: by the script in a real store and by the model.
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fleet/store_and_model.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace claim_histograms_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t hour = first_hour + 12;  // noon
constexpr std::uint64_t family = 1u << 20;      // and those behind it

time_point at(std::int64_t of, std::chrono::nanoseconds in_hour) {
    return time_point{std::chrono::hours{of}} + in_hour;
}

claim_terms terms_of(std::int64_t of, bool with_day = false) {
    return {.hour = of, .rules = 1, .grace = 600, .with_day = with_day, .room = 1000, .day_room = 1000};
}

/// Some series of one histogram, or of none: those with numbers from `first` on.
struct part {
    std::uint64_t first = 0;
    std::uint64_t count = 1;
    std::uint64_t of = family;
};

/// Of one run with one budget.
claim claim_of(const std::vector<part>& parts, series_maxima maxima) {
    claim asked{.budgets = {{.id = 1, .maxima = maxima}}};
    for (const part& each : parts)
        for (std::uint64_t i = each.first; i < each.first + each.count; ++i) {
            asked.fingerprints.push_back(fingerprint_of(i));
            asked.families.push_back(each.of == 0 ? 0 : fingerprint_of(each.of));
        }
    asked.runs = {{.series = static_cast<std::uint32_t>(asked.fingerprints.size()), .budgets = {0}}};
    return asked;
}

std::string outcomes(const claim_answer& answer) {
    std::ostringstream text;
    for (const series_answer& is : answer.series) text << is;
    return text.str();
}

/// At twenty minutes past, when nothing is kept for incumbents.
struct scene {
    store_and_model both{};
    claim_terms terms = terms_of(hour);
    time_point now = at(hour, 20min);
    series_maxima maxima{.hourly = 4};

    claim_answer answer(const std::vector<part>& parts) { return both.ask(claim_of(parts, maxima), terms, now); }
    std::string ask(const std::vector<part>& parts) { return outcomes(answer(parts)); }
    std::uint64_t counted(bool in_day = false) {
        const budget_answer is = answer({}).budgets[0];
        return in_day ? is.daily : is.hourly;
    }
};

}  // namespace

TEST_CASE("what completes a histogram is taken over the limit, counted and marked") {
    scene store;
    CHECK(store.ask({{.first = 0, .count = 3, .of = 0}, {.first = 10, .count = 4}}) ==
          "tttt"
          "t+ht+ht+h");
    CHECK(store.counted() == 7);
    CHECK(store.ask({{.first = 14}}) == "t+h");
    CHECK(store.ask({{.first = 10, .count = 5}}) == "kkkkk");
    CHECK(store.ask({{.first = 3, .of = 0}, {.first = 20, .of = family + 1}}) == "r0hr0h");
    CHECK(store.counted() == 8);
    CHECK(store.both.model().hour().series.size() == 8);  // no family among them
    CHECK(store.both.model().hour().families.size() == 1);
    store.both.compare();
}

TEST_CASE("a histogram that found no room is refused, whichever of its series comes") {
    scene store;
    CHECK(store.ask({{.first = 0, .count = 4, .of = 0}}) == "tttt");
    CHECK(store.ask({{.first = 10, .count = 2}, {.first = 20, .of = family + 1}, {.first = 12}}) == "r0hr0hr0hr0h");
    CHECK(store.counted() == 4);
    CHECK(store.both.model().hour().families.empty());
    store.both.compare();
}

TEST_CASE("another gate's part of a histogram is completed, whether its answer came or not") {
    scene store;
    store.maxima.hourly = 1;
    CHECK(store.ask({{.first = 10, .count = 3}}) == "tt+ht+h");
    store.terms.gate = 7;
    CHECK(store.ask({{.first = 12, .count = 2}}) == "kt+h");
    CHECK(store.ask({{.first = 12, .count = 2}}) == "kk");
    CHECK(store.counted() == 4);
    store.both.compare();
}

TEST_CASE("so many series of one histogram are completed and no more") {
    scene store;
    store.maxima.hourly = 1;
    CHECK(store.ask({{.first = 5'000, .of = family}}) == "t");
    std::uint64_t completed = 0;
    for (std::uint64_t first = 0; first < 1'100; first += 100)
        for (const series_answer& is : store.answer({{.first = 10'000 + first, .count = 100}}).series)
            completed += is.completed.hour ? 1 : 0;
    CHECK(completed == 200);
    CHECK(store.counted() == 1 + 200);
    CHECK(store.ask({{.first = 20'000}, {.first = 5'000}}) == "r0hk");
    store.both.compare();
}

TEST_CASE("what completes histograms has a bound in each budget, and the next hour does not give it again") {
    scene store;
    store.terms.histogram_series_max = 3;
    store.terms.with_day = true;
    store.maxima = {.hourly = 40, .daily = 50};
    CHECK(store.ask(
              {{.first = 0, .count = 38, .of = 0}, {.first = 100, .of = family}, {.first = 200, .of = family + 1}}) ==
          std::string(40, 't'));
    CHECK(store.ask({{.first = 101, .count = 4}}) == "t+ht+ht+hr0h");
    CHECK(store.ask({{.first = 201, .count = 2, .of = family + 1}}) == "t+hr0h");
    CHECK(store.counted() == 44);
    store.both.compare();

    // While room is kept for what was completed, and when it has come back.
    store.terms.hour = hour + 1;
    store.now = at(hour + 1, 1min);
    CHECK(store.ask({{.first = 100, .count = 4}, {.first = 105}}) == "ttttr0h");
    CHECK(store.ask({{.first = 0, .count = 38, .of = 0}}) == std::string(36, 't') + "r0hr0h");
    CHECK(store.ask({{.first = 200, .of = family + 1}, {.first = 105, .count = 4}}) == "r0hr0hr0hr0hr0h");
    store.now = at(hour + 1, 20min);
    CHECK(store.ask({{.first = 105, .count = 6}}) == "t+ht+ht+hr0hr0hr0h");
    CHECK(store.counted() == 43);
    store.both.compare();
}

TEST_CASE("the hour and the day are completed apart") {
    scene store;
    store.terms = terms_of(hour, true);
    store.maxima = {.hourly = 3, .daily = 2};
    CHECK(store.ask({{.first = 10, .count = 4}}) == "ttt+dt+h+d");
    CHECK(store.counted(true) == 4);
    store.both.compare();

    // In the next hour, when the grace is over: known to the day, new in the hour.
    store.terms = terms_of(hour + 1, true);
    store.now = at(hour + 1, 20min);
    CHECK(store.ask({{.first = 30, .count = 2, .of = 0}}) == "r0dr0d");
    CHECK(store.ask({{.first = 10, .count = 2}, {.first = 14, .count = 3}}) == "ttt+dt+h+dt+h+d");
    CHECK(store.counted() == 5);
    CHECK(store.counted(true) == 7);
    store.both.compare();

    // The day has it, the hour has no room to begin it.
    store.terms = terms_of(hour + 2, true);
    store.now = at(hour + 2, 20min);
    store.maxima = {.hourly = 1};
    CHECK(store.ask({{.first = 40, .of = 0}, {.first = 10, .count = 2}}) == "tr0hr0h");
    store.both.compare();
}

TEST_CASE("incumbents of a histogram flow on, and begin it in the new hour") {
    scene store;
    store.maxima.hourly = 3;
    CHECK(store.ask({{.first = 10, .count = 2}, {.first = 0, .of = 0}}) == "ttt");
    store.terms = terms_of(hour + 1);
    store.now = at(hour + 1, 1min);
    CHECK(store.ask({{.first = 12}}) == "r0h");  // all room is kept
    CHECK(store.ask({{.first = 10}, {.first = 12}}) == "tt+h");
    CHECK(store.ask({{.first = 11}, {.first = 0, .of = 0}}) == "tt");  // what was completed has taken no place
    CHECK(store.ask({{.first = 13}, {.first = 1, .of = 0}}) == "t+hr0h");
    CHECK(store.counted() == 5);
    store.both.compare();
}

TEST_CASE("what was accepted at once begins its histogram when it is told of") {
    scene store;
    store.maxima.hourly = 2;
    CHECK(store.ask({{.first = 10, .count = 3}}) == "ttt+h");
    store.terms = terms_of(hour + 1);
    store.terms.accepted = true;
    store.now = at(hour + 1, 1min);
    CHECK(store.ask({{.first = 10, .count = 3}}) == "ttt+h");
    store.terms.accepted = false;
    CHECK(store.ask({{.first = 13}}) == "t+h");
    CHECK(store.counted() == 4);
    store.both.compare();
}

TEST_CASE("series of histograms and others in one claim keep their order") {
    scene store;
    store.maxima.hourly = 5;
    CHECK(store.ask({{.first = 0, .of = 0},
                     {.first = 10},
                     {.first = 1, .of = 0},
                     {.first = 20, .of = family + 1},
                     {.first = 0, .of = 0},
                     {.first = 11},
                     {.first = 30, .of = family + 2},
                     {.first = 2, .of = 0},
                     {.first = 21, .of = family + 1}}) == "ttttktr0hr0ht+h");
    CHECK(store.counted() == 6);
    REQUIRE(store.both.model().hour().feed.size() == 1);
    CHECK(store.both.model().hour().feed[0].families ==
          std::vector<std::uint64_t>{fingerprint_of(family), fingerprint_of(family + 1)});
    store.both.compare();
}

TEST_CASE("what claims leave to shares is left alone by no completion, and still counted") {
    scene store;
    store.maxima.hourly = 1'000;  // 952 to claims
    store.terms.reserve = 500;
    for (std::uint64_t first = 0; first < 1'020; first += 102)
        store.answer({{.first = 100'000 + first, .count = 102, .of = 0}});
    CHECK(store.counted() == 952);
    CHECK(store.ask({{.first = 10}}) == "r0h");
    store.terms.owed = true;  // let pass out of a share, told with all of the limit
    CHECK(store.ask({{.first = 10}}) == "t");
    store.terms.owed = false;
    CHECK(store.ask({{.first = 11}}) == "t+h");
    CHECK(store.counted() == 954);
    store.both.compare();
}

}  // namespace claim_histograms_test
