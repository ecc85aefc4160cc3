#include "ingest/texts.hpp"

#include "ingest/requests.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace texts_test {
namespace {

limit_rules rejecting(std::uint64_t hourly, std::uint64_t daily) {
    limit_rules rules{.global = {.hourly = hourly, .daily = daily}};
    rules.tenants.answer = limit_answer::reject;
    return rules;
}

struct scene {
    series_limiter limiter;
    planner planning{hash_key::known_to_all()};
    std::string body;
    plan decided{};

    scene(const limit_rules& rules, std::string text) : limiter(rules, noon), body(std::move(text)) {
        const auto made = planning(body, limiter, noon);
        REQUIRE(made.has_value());
        decided = *made;
    }
    std::string text() { return refused_text(decided, "", planning, limiter); }
};

}  // namespace

TEST_CASE("the first line says how much was refused, by which limit, and names a series") {
    scene at{rejecting(1, 0), body_v1({"a", "b", "c", "b"})};
    CHECK(at.text() ==
          "refused 2 new series (3 samples): maxHourlySeries 1 is spent (1 series admitted), for example "
          "up{job=\"b\"}");
}

TEST_CASE("every limit that is spent is named once") {
    scene at{rejecting(1, 1), body_v1({"a", "b", "c"})};
    CHECK(at.text() ==
          "refused 2 new series (2 samples): maxHourlySeries 1 is spent (1 series admitted), for example "
          "up{job=\"b\"}\nmaxDailySeries 1 is spent (1 series admitted), for example up{job=\"b\"}");
}

TEST_CASE("a limit that has been raised since is named no more") {
    scene at{rejecting(1, 0), body_v1({"a", "b"})};
    at.limiter.reconfigure(rejecting(5, 0));
    CHECK(at.text() == "refused 1 new series (1 sample): there is room again");
}

TEST_CASE("a long series is cut, for senders keep only so much of an answer") {
    const std::string pad(5000, 'x');
    scene at{rejecting(1, 0), body_v1({"a", pad})};
    CHECK(at.text().size() < 512);
}

TEST_CASE("who is not to be told hears nothing") {
    limit_rules rules = rejecting(1, 0);
    rules.tenants.answer = limit_answer::drop;
    scene at{rules, body_v1({"a", "b"})};
    CHECK(at.decided.refused_series == 1);
    CHECK(at.text().empty());
}

TEST_CASE("what could not be translated is said line by line") {
    translation_loss lost;
    CHECK(untranslated_text(lost).empty());
    lost.histograms = 2;
    const std::string histograms = "left out 2 native histograms with custom buckets: remote write 1 has none";
    CHECK(untranslated_text(lost) == histograms);
    lost.invalid.series = 3;
    lost.invalid.first = "no metric name";
    const std::string series =
        "left out 3 series that a store of remote write 1 would drop, the first for no metric name";
    CHECK(untranslated_text(lost) == histograms + "\n" + series);
    lost.histograms = 0;
    CHECK(untranslated_text(lost) == series);
}

}  // namespace texts_test
