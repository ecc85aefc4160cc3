// What is made of replies to who reads the feed, whatever they are.
#include "fleet/feed_text.hpp"

#include <memory>
#include <string>
#include <string_view>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace feed_text_test {
namespace {

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

struct entry {
    std::string id = "0-2";
    std::string gate = "-2";
    std::string series = "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\x80"s;
    std::string hourly = "18446744073709551615 2 7 1";
    std::string daily = "7 5";
    std::string families{};  // none: no word of it

    [[nodiscard]] std::string text() const {
        return std::string{"*2\r\n"} + bulk(id) + (families.empty() ? "*8\r\n" : "*10\r\n") + bulk("g") + bulk(gate) +
               bulk("s") + bulk(series) + bulk("h") + bulk(hourly) + bulk("d") + bulk(daily) +
               (families.empty() ? "" : bulk("f") + bulk(families));
    }
};

std::string answer_of(std::vector<entry> entries, std::string_view series = "2") {
    std::string text =
        std::string{"*4\r\n:1\r\n:"} + std::string{series} + "\r\n*" + std::to_string(entries.size()) + "\r\n";
    for (const entry& each : entries) text += each.text();
    return text + bulk("12.5");
}

bool is_read(const std::string& text) {
    return read_feed_answer(*reply_of(text)).has_value();
}

}  // namespace

TEST_CASE("who reads the feed says how far it has come") {
    CHECK(feed_words(49, 12, store_keys{"a"}) ==
          std::vector<std::string>{"3", "sg:{a}:2:head", "sg:{a}:2:h:49", "sg:{a}:2:h:49:feed", "12", "128", ""});
}

TEST_CASE("fingerprints stand in the feed with the lowest byte first") {
    const std::vector<std::uint64_t> two{1, 0x8000'0000'0000'0002};
    CHECK(fingerprint_bytes(two) == entry{}.series);
    CHECK(fingerprint_bytes({}).empty());
}

TEST_CASE("what claims have taken is read") {
    const auto answer = read_feed_answer(*reply_of(
        answer_of({{}, {.id = "0-3", .gate = "5", .series = "\7\0\0\0\0\0\0\0"s, .hourly = "", .daily = ""}}, "4")));
    REQUIRE(answer.has_value());
    CHECK(answer->is_whole);
    CHECK(answer->since == "12.5");
    CHECK(answer->series == 4);
    CHECK(answer->claims == std::vector<fed_claim>{{.upto = 2,
                                                    .gate = 0xffff'ffff'ffff'fffe,
                                                    .fingerprints = {1, 0x8000'0000'0000'0002},
                                                    .hourly = {{~0ull, 2}, {7, 1}},
                                                    .daily = {{7, 5}}},
                                                   {.upto = 3, .gate = 5, .fingerprints = {7}}});
}

TEST_CASE("a server that may have lost counts says nothing") {
    const auto answer = read_feed_answer(*reply_of("*1\r\n:0\r\n"));
    REQUIRE(answer.has_value());
    CHECK_FALSE(answer->is_whole);
}

TEST_CASE("what no feed says is no feed") {
    REQUIRE(is_read(answer_of({entry{}})));
    for (const std::string text :
         {"*0\r\n", ":1\r\n", "$-1\r\n", "*-1\r\n", "-ERR no\r\n", "*1\r\n:1\r\n", "*1\r\n$-1\r\n",
          "*2\r\n:1\r\n:2\r\n", "*3\r\n:1\r\n:2\r\n*0\r\n", "*4\r\n:0\r\n:2\r\n*0\r\n$1\r\n1\r\n",
          "*4\r\n:1\r\n:-1\r\n*0\r\n$1\r\n1\r\n", "*4\r\n:1\r\n$1\r\n2\r\n*0\r\n$1\r\n1\r\n",
          "*4\r\n:1\r\n:2\r\n$-1\r\n$1\r\n1\r\n", "*4\r\n:1\r\n:2\r\n*1\r\n:2\r\n$1\r\n1\r\n",
          "*4\r\n:1\r\n:2\r\n*1\r\n$-1\r\n$1\r\n1\r\n", "*4\r\n:1\r\n:2\r\n*1\r\n*2\r\n$-1\r\n$-1\r\n$1\r\n1\r\n",
          "*4\r\n:1\r\n:9223372036854775807\r\n*0\r\n$1\r\n1\r\n", "*4\r\n:1\r\n:2\r\n*0\r\n:1\r\n",
          "*4\r\n:1\r\n:2\r\n*0\r\n$-1\r\n"}) {
        CAPTURE(text);
        CHECK_FALSE(is_read(text));
    }
    for (const entry& wrong : std::vector<entry>{{.id = "1-2"},
                                                 {.id = "0-"},
                                                 {.id = "0-2x"},
                                                 {.id = "0-1"},  // with two series
                                                 {.id = "0-3"},  // of two
                                                 {.id = "0-99999999999999999999"},
                                                 {.gate = ""},
                                                 {.gate = "a"},
                                                 {.series = ""},
                                                 {.series = "1234567"},
                                                 {.series = std::string(129 * 8, 'x')},
                                                 {.hourly = "1"},
                                                 {.hourly = "1 "},
                                                 {.hourly = " 1 2"},
                                                 {.hourly = "1  2"},
                                                 {.hourly = "1 -2"},
                                                 {.hourly = "1 99999999999999999"},
                                                 {.daily = "x"}}) {
        CAPTURE(wrong.id, wrong.gate, wrong.series.size(), wrong.hourly, wrong.daily);
        CHECK_FALSE(is_read(answer_of({wrong})));
    }
    CHECK_FALSE(is_read(answer_of({{}, {}})));  // the same ones twice
    CHECK_FALSE(is_read(answer_of(std::vector<entry>(fed_claims_max + 1), "1000")));
}

TEST_CASE("histograms that have begun stand behind the counts") {
    const auto read = read_feed_answer(*reply_of(answer_of({{.families = "\3\0\0\0\0\0\0\x80"s}})));
    REQUIRE(read.has_value());
    CHECK(read->claims[0].families == std::vector<std::uint64_t>{0x8000000000000003});
    CHECK(read->claims[0].fingerprints.size() == 2);
    CHECK(is_read(answer_of({{}})));
    CHECK_FALSE(is_read(answer_of({{.families = "1234567"}})));
}

}  // namespace feed_text_test
