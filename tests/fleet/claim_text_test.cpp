// The words of a claim, and what is made of replies, whatever they are.
#include "fleet/claim_text.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace claim_text_test {
namespace {

using namespace std::chrono_literals;

using words = std::vector<std::string>;
using reply = std::unique_ptr<redisReply, decltype(&freeReplyObject)>;

/// @param text as the store sends it.
reply reply_of(std::string_view text) {
    const std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader{redisReaderCreate(), &redisReaderFree};
    redisReaderFeed(reader.get(), text.data(), text.size());
    void* read = nullptr;
    REQUIRE(redisReaderGetReply(reader.get(), &read) == REDIS_OK);
    REQUIRE(read != nullptr);
    return {static_cast<redisReply*>(read), &freeReplyObject};
}

std::string bulk(std::string_view text) {
    return std::string{"$"} + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}

/// Two series and one budget.
const claim two{.fingerprints = {1, 2}, .runs = {{.series = 2, .budgets = {0}}}, .budgets = {{.id = 7}}};

constexpr std::string_view windows = ":1700000000\r\n:250000\r\n:472222\r\n:8\r\n:16\r\n:4\r\n";
constexpr std::string_view counts = "*4\r\n:1\r\n:5\r\n:6\r\n:-1\r\n";

std::string decided(std::string_view outcomes, std::string_view budgets = counts) {
    return "*9\r\n:0\r\n" + std::string{windows} + bulk(outcomes) + std::string{budgets};
}

std::string error_of(const std::string& text) {
    const auto answer = read_claim_answer(*reply_of(text), two);
    return answer.has_value() ? "" : answer.error();
}

using namespace std::string_literals;
using namespace std::string_view_literals;

}  // namespace

TEST_CASE("a claim's words are keys, terms and what it asks") {
    const claim asked{.fingerprints = {3, 0x8000'0000'0000'0009},
                      .runs = {{.series = 1, .budgets = {0, 2}}, {.series = 1, .look = true}},
                      .budgets = {{.id = ~0ull, .maxima = {.hourly = 10, .daily = 20}},
                                  {.id = 8,
                                   .maxima = {.hourly = 1, .daily = 2},
                                   .limit_budgets = 4,
                                   .places_max = 30,
                                   .overflow_id = 9,
                                   .overflow_maxima = {.hourly = 5, .daily = 6}},
                                  {.id = 11,
                                   .maxima = {.hourly = 3},
                                   .limit_budgets = 4,
                                   .places_max = 30,
                                   .overflow_id = 9,
                                   .overflow_maxima = {.hourly = 5, .daily = 6}}}};
    claim_terms terms{.hour = 49,
                      .rules = 12,
                      .all_rules = 13,
                      .grace = 600,
                      .with_day = true,
                      .accepted = true,
                      .reserve = 500,
                      .room = 100,
                      .day_room = 200,
                      .buckets = {.hour = 4, .day = 8, .before = 2},
                      .gate = 0xffff'ffff'ffff'fffe,
                      .server = "run-id"};
    const words arguments{"49",
                          "12",
                          "600",
                          "1",
                          "100",
                          "200",
                          "4",
                          "8",
                          "2",  // terms
                          "2",
                          "2",
                          "1",
                          "3",
                          "3",
                          "1",
                          "\1\2\3"s,  // numbers, kinds of budgets
                          "13",       // all rules
                          "1",        // accepted at once
                          "-2",       // the gate
                          "\3\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\x80"s,
                          "500",  // left to shares
                          "0",    // histograms
                          "3",
                          "-9223372036854775799",  // series
                          "18446744073709551615",
                          "8",
                          "11",
                          "9",  // budgets, overflow budgets
                          "\0\0\2"s,
                          "\x80"s,  // runs
                          "10",
                          "20",
                          "0",
                          "1",
                          "2",
                          "1",
                          "3",
                          "0",
                          "1",  // kinds
                          "4",
                          "30",
                          "1",
                          "5",
                          "6",  // shelf
                          "run-id"};
    const auto with = [&](words keys) {
        keys.insert(keys.end(), arguments.begin(), arguments.end());
        return keys;
    };
    CHECK(claim_words(asked, terms, store_keys{"a"}) ==
          with({"13", "sg:{a}:2:head", "sg:{a}:2:h:49", "sg:{a}:2:h:48", "sg:{a}:2:d:2", "sg:{a}:2:h:49:feed",
                "sg:{a}:2:h:48", "sg:{a}:2:h:47", "sg:{a}:2:h:49:3", "sg:{a}:2:h:49:1", "sg:{a}:2:d:2:3",
                "sg:{a}:2:d:2:1", "sg:{a}:2:h:48:1", "sg:{a}:2:h:48:1"}));

    terms.buckets = {};
    const words unaware = claim_words(asked, terms, store_keys{"a"});
    CHECK(unaware.front() == "7");
    CHECK(unaware.size() == 8 + arguments.size());
}

TEST_CASE("histograms are named behind all else, each once, and their buckets behind those of series") {
    const claim plain{.fingerprints = {4, 5, 6}, .runs = {{.series = 3, .budgets = {0}}}, .budgets = {{.id = 8}}};
    claim asked = plain;
    asked.families = {0, 0x8000000000000001, 3};
    claim_terms terms{.hour = 49, .with_day = true, .buckets = {.hour = 4, .day = 2}, .server = "run-id"};
    const words without = claim_words(plain, terms, store_keys{"a"}), with = claim_words(asked, terms, store_keys{"a"});
    REQUIRE(without.front() == "13");
    REQUIRE(with.front() == "19");
    CHECK(words(with.begin() + 14, with.begin() + 20) == words{"sg:{a}:2:h:49:1", "sg:{a}:2:h:49:3", "sg:{a}:2:d:2:1",
                                                               "sg:{a}:2:d:2:1", "sg:{a}:2:h:49:completed",
                                                               "sg:{a}:2:d:2:completed"});
    CHECK(without[14 + 21] == "0");
    CHECK(with[20 + 21] == "2");
    CHECK(words(with.end() - 7, with.end()) == words{"1000", "200", "-9223372036854775807", "3", "\0\1\2"s,
                                                     "\1\0\0\0\0\0\0\x80\3\0\0\0\0\0\0\0"s, "run-id"});
    CHECK(with.size() == without.size() + 6 + 6);
    terms.with_day = false;
    CHECK(claim_words(asked, terms, store_keys{"a"}).front() == "13");
}

TEST_CASE("an answer is read") {
    const claim_answer answer = *read_claim_answer(*reply_of(decided("k\0h\0"s)), two);
    CHECK(answer.status == claim_status::decided);
    CHECK(answer.windows == store_windows{.now = time_point{1'700'000'000s + 250ms},
                                          .hour = 472'222,
                                          .buckets = {.hour = 8, .day = 16, .before = 4}});
    CHECK((answer.series ==
           std::vector<series_answer>{{.outcome = claim_outcome::known},
                                      {.outcome = claim_outcome::refused, .window = refusing_window::hourly}}));
    CHECK((answer.budgets ==
           std::vector<budget_answer>{{.shares = true, .hourly = 5, .daily = 6, .awaited = all_awaited}}));
    CHECK((read_claim_answer(*reply_of(decided("t\0d\0"s)), two)->series ==
           std::vector<series_answer>{{.outcome = claim_outcome::taken},
                                      {.outcome = claim_outcome::refused, .window = refusing_window::daily}}));

    const auto completed = read_claim_answer(*reply_of(decided("t\1t\2"s)), two);
    CHECK(completed->series[0].completed == in_windows{.hour = true, .day = false});
    CHECK(completed->series[1].completed == in_windows{.hour = false, .day = true});

    const std::string moved = "*7\r\n:2\r\n" + std::string{windows};
    CHECK(read_claim_answer(*reply_of(moved), two)->status == claim_status::moved);
    CHECK(read_claim_answer(*reply_of(moved), two)->series.empty());
}

TEST_CASE("what is no answer to the claim is an error") {
    const std::string good = decided("k\0k\0"s);
    REQUIRE(error_of(good).empty());
    CHECK(error_of("-OOM no memory\r\n") == "OOM no memory");
    CHECK(error_of("$-1\r\n") == "no answer to a claim");
    CHECK(error_of("*-1\r\n") == "no answer to a claim");
    CHECK(error_of("*0\r\n") == "no answer to a claim");
    CHECK(error_of("+OK\r\n") == "no answer to a claim");
    CHECK(error_of("*7\r\n:0\r\n" + std::string{windows}) == "an answer to a claim of another length");
    CHECK(error_of("*9\r\n:1\r\n" + good.substr(8)) == "an answer to a claim of another length");
    for (const char* status : {":4", ":-1", "$1\r\n0", "$-1"})
        CHECK(error_of("*9\r\n" + std::string{status} + good.substr(6)) == "an answer to a claim without windows");
    for (const char* time : {":-1", ":9000000001"})
        CHECK(error_of("*9\r\n:0\r\n" + std::string{time} + good.substr(19)) == "an answer to a claim without windows");
    for (const std::string_view outcomes :
         {""sv, "k\0k"sv, "k\0k\0k\0"sv, "k\0x\0"sv, "k\0h\1"sv, "k\0t\4"sv, "k\0d\xff"sv})
        CHECK(error_of(decided(outcomes)) == "an answer that is not about the claim's series");
    for (const char* budgets : {":1\r\n", "*0\r\n", "*3\r\n:0\r\n:0\r\n:0\r\n", "*4\r\n:2\r\n:0\r\n:0\r\n:0\r\n",
                                "*4\r\n:0\r\n:-1\r\n:0\r\n:0\r\n", "*4\r\n:0\r\n:0\r\n:-1\r\n:0\r\n",
                                "*4\r\n:0\r\n:0\r\n:0\r\n:-2\r\n", "*4\r\n:0\r\n:0\r\n:0\r\n$1\r\n0\r\n", "*-1\r\n"})
        CHECK(error_of(decided("k\0k\0"s, budgets)) == "an answer that is not about the claim's budgets");
}

TEST_CASE("a bucket count that is no power of two is an error") {
    for (const char* count : {"3", "-1", "4294967296", "6"}) {
        const std::string text = ":1700000000\r\n:0\r\n:472222\r\n:" + std::string{count} + "\r\n:16\r\n:4\r\n";
        CHECK(error_of("*7\r\n:2\r\n" + text) == "an answer to a claim without windows");
    }
}

TEST_CASE("answers with changed bytes are an error or an answer of the right size") {
    random_numbers random{3};
    for (int i = 0; i < 20'000; ++i) {
        std::string text = decided("k\0h\0"s);
        // No '*': the reader makes room for as many parts as are announced.
        for (std::uint64_t changes = 1 + random.below(3); changes != 0; --changes)
            text[random.below(text.size())] = ":$-+\r\n0123456789\0k"[random.below(19)];
        const std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader{redisReaderCreate(), &redisReaderFree};
        redisReaderFeed(reader.get(), text.data(), text.size());
        void* read = nullptr;
        if (redisReaderGetReply(reader.get(), &read) != REDIS_OK || read == nullptr) continue;
        const reply got{static_cast<redisReply*>(read), &freeReplyObject};
        const auto answer = read_claim_answer(*got, two);
        if (!answer.has_value() || answer->status != claim_status::decided) continue;
        REQUIRE(answer->series.size() == 2);
        REQUIRE(answer->budgets.size() == 1);
    }
}

}  // namespace claim_text_test
