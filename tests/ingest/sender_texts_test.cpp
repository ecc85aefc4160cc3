#include "ingest/sender_texts.hpp"

#include "ingest/requests.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::sender_texts_test {
namespace {

limit_rules rejecting(std::uint64_t hourly, std::uint64_t daily) {
    limit_rules rules{.global = {.hourly = hourly, .daily = daily}};
    rules.tenants.answer = limit_answer::reject;
    return rules;
}

struct scene {
    series_limiter limiter;
    planner planning{hash_key::known_to_all()};
    std::string body{};
    plan decided{};

    scene(const limit_rules& rules, std::string text) : limiter(rules, noon) { ask(std::move(text), noon); }

    void ask(std::string text, time_point now) {
        body = std::move(text);
        const auto made = planning(body, limiter, now);
        REQUIRE(made.has_value());
        decided = *made;
    }
    std::string text() { return refused_text(decided, "", planning, limiter); }
};

const std::string with_query = "http://store.test/w?token=urlsecret99";

/// What a sender gets of an answer, from a store with this URL and a header with a key.
reply told(upstream_answer answer, const std::string& url = with_query) {
    store_config store;
    store.backends.resize(1);
    store.backends[0].url = url;
    store.headers.emplace("X-Key", "headersecret7");
    return passed_on(std::move(answer), "X-Scope-OrgID", {store, "upstream"});
}

upstream_answer of(unsigned status, std::string body = {}) {
    return {.status = status, .headers = {}, .body = std::move(body)};
}

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

TEST_CASE("a limit is named that keeps all its room, and has counted nothing yet") {
    scene at{rejecting(0, 0), body_v1({"a"})};
    limit_rules rules = rejecting(0, 0);
    rules.limits.resize(1);
    rules.limits[0].name = "per-job";
    rules.limits[0].each = {"job"};
    rules.limits[0].maxima.hourly = 7;
    rules.incumbent_grace = std::chrono::minutes{10};
    const time_point next_hour = noon + std::chrono::hours{1};
    at.limiter.maintain(next_hour);
    at.limiter.reconfigure(rules);
    at.ask(body_v1({"b"}), next_hour);
    CHECK(at.text() ==
          "refused 1 new series (1 sample): limit per-job{job=\"b\"}: maxHourlySeries 7 is spent (0 series "
          "admitted), and the rest is kept for series of the hour before, for example up{job=\"b\"}");
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

TEST_CASE("an error that repeats what is ours goes on without that") {
    upstream_answer answer = of(400, "unknown token urlsecret99 (X-Key: headersecret7)\n");
    answer.headers.insert("X-Asked", "/w?token=urlsecret99");
    answer.headers.insert("X-Asked", "headersecret7");
    answer.headers.insert("Retry-After", "7");
    answer.headers.insert(http::field::etag, "x");
    const reply made = told(answer);
    CHECK(made.status == 400);
    CHECK(made.body == "unknown token <secret> (X-Key: <secret>)\n");
    CHECK(made.headers["Retry-After"] == "7");
    CHECK(made.headers.count(http::field::etag) == 0);
    std::string asked;
    for (auto [each, end] = made.headers.equal_range("X-Asked"); each != end; ++each)
        asked += std::string{each->value()} + ";";
    CHECK(asked == "/w?<secret>;<secret>;");
}

TEST_CASE("a secret that begins like another shows nothing of that") {
    store_config store;
    store.backends.resize(1);
    store.backends[0].url = "http://store.test/w?key=key1-argument";
    store.headers.emplace("A-Short", "key1");
    store.headers.emplace("B-Long", "key1-longer");
    store.headers.emplace("authorization", "Token inheader");
    const reply made = passed_on(of(400, "key1-longer key1 key1-argument, token inheader"), "", {store, "upstream"});
    CHECK(made.body == "<secret> <secret> <secret>, token <secret>");
}

TEST_CASE("other answers go on as they came") {
    upstream_answer answer = of(400, "out of order\n");
    answer.headers.insert(http::field::etag, "x");
    const reply made = told(answer);
    CHECK(made.body == "out of order\n");
    CHECK(made.headers["ETag"] == "x");
    CHECK(told(of(200, "headersecret7")).body == "headersecret7");
}

TEST_CASE("what is the gate's own to say goes no further from a store") {
    for (const unsigned status : {204u, 400u, 503u}) {
        upstream_answer answer = of(status);
        answer.headers.insert("X-Seriesgate-Refused-Series", "7");
        answer.headers.insert("x-seriesgate-refused-samples", "7");
        answer.headers.insert("X-SeriesGate-Anything", "");
        answer.headers.insert("X-Seriesgates", "kept");
        answer.headers.insert("Retry-After", "1");
        const reply made = told(answer);
        CHECK(std::distance(made.headers.begin(), made.headers.end()) == 2);
        CHECK(made.headers["X-Seriesgates"] == "kept");
    }
}

TEST_CASE("where to look instead would show the URL's arguments") {
    upstream_answer answer = of(300);
    answer.headers.insert(http::field::location, "https://store.test/w?token=urls%65cret99");
    answer.headers.insert(http::field::content_location, "/w");
    CHECK(told(answer).headers.count(http::field::location) == 0);
    CHECK(told(answer).headers.count(http::field::content_location) == 0);
    CHECK(told(answer, "http://store.test/w").headers["Content-Location"] == "/w");
}

TEST_CASE("what cannot be read may hold secrets") {
    upstream_answer answer = of(400, "\x1f\x8b");
    answer.headers.insert(http::field::content_encoding, "gzip");
    const reply made = told(answer);
    CHECK(made.body.empty());
    CHECK(made.headers.count(http::field::content_encoding) == 0);
}

}  // namespace
}  // namespace seriesgate::testing::sender_texts_test
