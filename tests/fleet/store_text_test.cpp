// The words of calls, heartbeats and reads of the feed, and what is made of replies, whatever they are.
#include "fleet/store_text.hpp"

#include <iterator>
#include <sstream>

#include "redis/redis_reply.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing::store_text_test {
namespace {

using words = std::vector<std::string>;

/// @param text as the store sends it. @return nothing if that is no reply.
redis_reply reply_of(std::string_view text) {
    reply_reader reader;
    reader.take(text);
    return reader.next();
}

std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}
std::string number(std::int64_t value) {
    return ":" + std::to_string(value) + "\r\n";
}
std::string numbers(std::initializer_list<std::int64_t> values) {
    std::string text = "*" + std::to_string(values.size()) + "\r\n";
    for (const std::int64_t value : values) text += number(value);
    return text;
}
std::string array(const words& parts) {
    std::string text = "*" + std::to_string(parts.size()) + "\r\n";
    for (const std::string& part : parts) text += part;
    return text;
}
const std::string nil = "$-1\r\n";

/// @param text with a space between each two words.
words words_of(std::string_view text) {
    std::istringstream in{std::string{text}};
    return {std::istream_iterator<std::string>{in}, {}};
}
words with(words parts, const words& more) {
    parts.insert(parts.end(), more.begin(), more.end());
    return parts;
}
/// By its place, what a part must not be.
using wrong_parts = std::vector<std::pair<std::size_t, words>>;

words changed(words parts, std::size_t at, const std::string& to) {
    parts.at(at) = to;
    return parts;
}

/// A status and the windows.
words windows_parts(std::int64_t status) {
    words parts;
    for (const std::int64_t each : {status, 1'700'000'000l, 250'000l, 472'222l, 3l, 8l, 16l, 4l, 1l})
        parts.push_back(number(each));
    return parts;
}
const open_windows read_windows{.now = time_point{1'700'000'000s + 250ms},
                                .hour = 472'222,
                                .generation = 3,
                                .buckets = {.hour = 8, .day = 16, .before = 4},
                                .keeps_places = true};
const wrong_parts wrong_windows{{0, {number(4), number(-1), bulk("0"), nil}},
                                {1, {number(-1), number(9'000'000'001)}},
                                {2, {number(-1), number(1'000'000)}},
                                {3, {number(-2), number(2'500'001), bulk("472222")}},
                                {4, {number(-1)}},
                                {5, {number(3)}},
                                {6, {number(-1)}},
                                {7, {number(6), number(4'294'967'296)}},
                                {8, {number(2), number(-1), nil}}};

// --- Calls.

/// Two series and one budget.
const store_call two{
    .fingerprints = {1, 2}, .runs = {{.series = 2, .budgets = {0}}}, .budgets = {{.id = 7, .limit = 1}}};

words decided(std::string_view outcomes, const std::string& budgets = numbers({1, 5, 6, -1})) {
    return with(windows_parts(0), {bulk(outcomes), budgets});
}

std::string error_of_call(const std::string& text) {
    const auto answer = read_answer(*reply_of(text), two);
    return answer ? "" : answer.error();
}

TEST_CASE("a refusal names a budget of its own run") {
    const store_call asked{.fingerprints = {1, 2},
                           .runs = {{.series = 1, .budgets = {0}}, {.series = 1, .budgets = {1}}},
                           .budgets = {{.id = 7, .limit = 1}, {.id = 8, .limit = 1}}};
    const auto is_read = [&asked](const std::string& outcomes) {
        const std::string text = array(decided(outcomes, numbers({1, 5, 6, -1, 1, 5, 6, -1})));
        return read_answer(*reply_of(text), asked).has_value();
    };
    CHECK(is_read("h\0h\1"s));
    CHECK_FALSE(is_read("h\1h\1"s));
}

TEST_CASE("a call's words are keys, terms and what it asks") {
    const shared_budget grouped{.id = 8,
                                .limit = 6,
                                .maxima = {.hourly = 1, .daily = 2},
                                .completions = {.hourly = 3, .daily = 4},
                                .sharing = 7,
                                .overflow_id = 9,
                                .group_set = 44,
                                .groups_max = 30,
                                .overflow_maxima = {.hourly = 5, .daily = 6},
                                .overflow_completions = {.hourly = 7, .daily = 8}};
    shared_budget another = grouped;
    another.id = 11;
    another.group_set = 0;
    const store_call asked{
        .kind = call_kind::pass,
        .fingerprints = {3, 0x8000'0000'0000'0009},
        .runs = {{.series = 1, .budgets = {0, 2}, .windows = {.hour = true, .before = true}, .completes = true},
                 {.series = 1, .windows = {}}},
        .budgets = {{.id = ~0ull, .limit = 5, .maxima = {.hourly = 10, .daily = 20}}, grouped, another}};
    gate_terms terms{.gate = "one",
                     .run = 0xffff'ffff'ffff'fffe,
                     .clock = time_point{176'401s},
                     .epoch = "e",
                     .hour = 49,
                     .generation = 12,
                     .buckets = {.hour = 4, .day = 8, .before = 2},
                     .with_day = true,
                     .limits = {5, 6, 7},
                     .room = 100,
                     .day_room = 200};
    const words fixed =
        words_of("sg:{a}:4:head sg:{a}:4:gates sg:{a}:4:feed sg:{a}:4:h:12:49 sg:{a}:4:h:12:48 sg:{a}:4:d:12:2");
    const words buckets = with(words_of("sg:{a}:4:h:12:49:0 sg:{a}:4:h:12:49:2 sg:{a}:4:d:12:2:0 sg:{a}:4:d:12:2:4"),
                               words_of("sg:{a}:4:h:12:48:0 sg:{a}:4:h:12:48:1"));
    const auto arguments = [](const std::string& counts, const char* day) {
        words all = words_of("pass one -2 176401 e 49 12 " + counts + " 100 200");
        all = with(all, {"\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0"s, day, "1"});
        all = with(with(all, words_of("2 2 3")), {"\3\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\x80"s});
        all = with(all, words_of("3 -9223372036854775799"));     // series
        all = with(all, words_of("18446744073709551615 8 11"));  // budgets
        all = with(all, {"1 10 20 0 0", "2 1 2 3 4 3 9 44 30 5 6 7 8", "2 1 2 3 4 3 9"});
        return with(all, {"\0\x0d\0\2"s, "\0\0"s, ""});  // runs
    };
    CHECK(call_words(asked, terms, store_keys{"a"}) ==
          with(with(with({"12"}, fixed), buckets), arguments("4 8 2", "1")));
    terms.buckets = {.day = 8};
    terms.with_day = false;
    CHECK(call_words(asked, terms, store_keys{"a"}) == with(with({"6"}, fixed), arguments("0 8 0", "0")));
    CHECK(call_words({}, {}, store_keys{"a"})[7] == "claim");
    CHECK(call_words({.kind = call_kind::refill}, {}, store_keys{"a"})[7] == "refill");
}

TEST_CASE("an answer to a call is read") {
    const store_answer answer = *read_answer(*reply_of(array(decided("k\0h\0"s))), two);
    CHECK(answer.status == store_status::decided);
    CHECK(answer.windows == read_windows);
    CHECK((answer.series == std::vector<series_decision>{
                                {.outcome = store_outcome::known},
                                {.outcome = store_outcome::refused, .budget = 0, .window = refusing_window::hourly}}));
    CHECK((answer.budgets ==
           std::vector<budget_in_store>{{.is_overflow = true, .hourly = 5, .daily = 6, .kept = all_kept}}));

    const auto outcomes_of = [](std::string_view bytes) {
        const auto read = read_answer(*reply_of(array(decided(bytes, numbers({0, 5, 6, 3})))), two);
        REQUIRE(read.has_value());
        CHECK(read->budgets[0].kept == 3);
        return std::pair{read->series[0].outcome, read->series[1].outcome};
    };
    using enum store_outcome;
    CHECK((outcomes_of("t\0c\1"s) == std::pair{taken, completed}));
    const auto windows_of = [](std::string_view bytes) {
        return read_answer(*reply_of(array(decided(bytes))), two)->series[0].without_room;
    };
    CHECK(windows_of("c\1k\0"s) == in_windows{.hour = true});
    CHECK(windows_of("c\2k\0"s) == in_windows{.day = true});
    CHECK(windows_of("c\3k\0"s) == in_windows{.hour = true, .day = true});
    CHECK((outcomes_of("w\0u\0"s) == std::pair{waits, unknown}));
    CHECK(read_answer(*reply_of(array(decided("d\0k\0"s))), two)->series[0].window == refusing_window::daily);

    for (const store_status status : {store_status::closed, store_status::moved, store_status::other_epoch}) {
        const auto read = read_answer(*reply_of(array(windows_parts(static_cast<int>(status)))), two);
        CHECK(read->status == status);
        CHECK(read->windows == read_windows);
        CHECK(read->series.empty());
    }
}

TEST_CASE("what is no answer to the call is an error") {
    REQUIRE(error_of_call(array(decided("k\0k\0"s))).empty());
    CHECK(error_of_call("-OOM no memory\r\n") == "OOM no memory");
    for (const std::string& text : {nil, "*-1\r\n"s, "*0\r\n"s, "+OK\r\n"s, ":0\r\n"s})
        CHECK(error_of_call(text) == "no answer to a call");
    for (const auto& [at, parts] : wrong_windows)
        for (const std::string& part : parts)
            CHECK(error_of_call(array(changed(decided("k\0k\0"s), at, part))) == "an answer to a call without windows");
    for (const words& parts : {windows_parts(0), with(windows_parts(1), {bulk("k\0k\0"s), numbers({0, 0, 0, 0})}),
                               with(decided("k\0k\0"s), {nil})})
        CHECK(error_of_call(array(parts)) == "an answer to a call of another length");
    for (const std::string_view outcomes :
         {""sv, "k\0k"sv, "k\0k\0k\0"sv, "k\0x\0"sv, "k\0h\1"sv, "d\xffk\0"sv, "c\0k\0"sv, "k\0c\4"sv})
        CHECK(error_of_call(array(decided(outcomes))) == "an answer that is not about the call's series");
    for (const std::string& budgets :
         {number(1), nil, "*-1\r\n"s, numbers({}), numbers({0, 0, 0}), numbers({2, 0, 0, 0}), numbers({0, -1, 0, 0}),
          numbers({0, 0, -1, 0}), numbers({0, 0, 0, -2}), array({number(0), number(0), number(0), bulk("0")})})
        CHECK(error_of_call(array(decided("k\0k\0"s, budgets))) == "an answer that is not about the call's budgets");
}

// --- Heartbeats.

words state_parts(std::int64_t status, std::int64_t fed = 77) {
    return with(windows_parts(status), {bulk("e"), number(1), number(fed), number(-5)});
}
const store_state read_state{
    .windows = read_windows, .epoch = "e", .is_refilling = true, .fed = 77, .ahead = std::chrono::seconds{-5}};
const wrong_parts wrong_states{
    {0, {number(3)}}, {9, {nil, number(1)}}, {10, {number(2), nil}}, {11, {number(-1)}}, {12, {bulk("0")}}};

/// Each with one part that is wrong.
void add_wrong(const words& good, const wrong_parts& wrong, words& to) {
    for (const auto& [at, parts] : wrong)
        for (const std::string& part : parts) to.push_back(array(changed(good, at, part)));
}

TEST_CASE("a heartbeat's words are keys, and all that the gate says") {
    heartbeat of{.gate = "one",
                 .fingerprints = "f",
                 .version = "1.0",
                 .clock = time_point{176'401s},
                 .epoch = "e",
                 .hour = 49,
                 .generation = 12,
                 .is_told = true,
                 .refilled = 5,
                 .grace = 600s,
                 .leaves = false,
                 .heard_of = {{.name = "two", .hour = 48}, {.name = "three", .hour = 49}}};
    const words keys =
        words_of("6 sg:{a}:4:head sg:{a}:4:gates sg:{a}:4:feed sg:{a}:4:h:12:49 sg:{a}:4:h:12:48 sg:{a}:4:d:12:2");
    const auto said = [&](const char* text) { return with(with(keys, words_of(text)), {""}); };
    CHECK(heartbeat_words(of, store_keys{"a"}) == said("heartbeat one f 176401 1.0 e 49 1 5 600 0 12 two 48 three 49"));
    of.has_lapsed = true;
    CHECK(heartbeat_words(of, store_keys{"a"}) == said("heartbeat one f 176401 1.0 e 49 2 5 600 0 12 two 48 three 49"));
    of.refilled.reset();
    of.is_told = false;
    of.leaves = true;
    of.heard_of.clear();
    CHECK(heartbeat_words(of, store_keys{"a"}) == said("heartbeat one f 176401 1.0 e 49 0 d 600 1 12"));
}

TEST_CASE("an answer to a heartbeat is read") {
    const words gates{bulk("one"), number(472'222), bulk("1.0"), number(0),
                      bulk("two"), number(472'221), bulk(""),    number(61)};
    const auto answer = read_heartbeat_answer(*reply_of(array(with(state_parts(0), gates))));
    REQUIRE(answer.has_value());
    CHECK(answer->state == read_state);
    CHECK((answer->gates ==
           std::vector<gate_heard_of>{{.name = "one", .hour = 472'222, .version = "1.0"},
                                      {.name = "two", .hour = 472'221, .version = "", .silent_seconds = 61}}));
    CHECK(read_heartbeat_answer(*reply_of(array(state_parts(2))))->state.status == heartbeat_status::foreign);
}

TEST_CASE("what is no answer to a heartbeat is an error") {
    const words good = with(state_parts(0), {bulk("one"), number(472'222), bulk("1.0"), number(0)});
    const auto error_of = [](const std::string& text) {
        const auto answer = read_heartbeat_answer(*reply_of(text));
        return answer ? "" : answer.error();
    };
    REQUIRE(error_of(array(good)).empty());
    CHECK(error_of("-BUSY script\r\n") == "BUSY script");
    words wrong{nil, "*0\r\n", "+OK\r\n", array(windows_parts(0)), array(with(good, {bulk("two")}))};
    add_wrong(good, wrong_windows, wrong);
    add_wrong(good, wrong_states, wrong);
    add_wrong(good, {{14, {nil, bulk("1")}}, {16, {nil, bulk("1")}}}, wrong);
    for (const std::string& text : wrong) {
        CAPTURE(text);
        CHECK(error_of(text) == "no answer to a heartbeat");
    }
}

// --- The feed.

/// The fields of a call that has taken two series in one run and one in another.
const words feed_fields{bulk("g"), bulk("-2"),
                        bulk("w"), bulk("472222"),
                        bulk("s"), bulk("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"s),
                        bulk("r"), bulk("\1\3\2\0\1\0\4\1\1"s),
                        bulk("h"), bulk("7 10 18446744073709551615 20"),
                        bulk("d"), bulk("7 11 18446744073709551615 21"),
                        bulk("b"), bulk("")};

std::string feed_entry(std::string_view id, const words& fields = feed_fields) {
    return array({bulk(id), array(fields)});
}
std::string feed_text(const words& entries, std::int64_t fed = 77) {
    return array(with(state_parts(0, fed), {array(entries)}));
}

TEST_CASE("reads of the feed have few words") {
    const words keys =
        words_of("6 sg:{a}:4:head sg:{a}:4:gates sg:{a}:4:feed sg:{a}:4:h:0:0 sg:{a}:4:h:0:-1 sg:{a}:4:d:0:0");
    CHECK(feed_read_words("e", 9, store_keys{"a"}) == with(with(keys, words_of("feed e 9 128")), {""}));
}

TEST_CASE("a page of the feed is read") {
    const words before = changed(changed(feed_fields, 11, bulk("")), 13, bulk("7 1 18446744073709551615 2"));
    const auto page = read_feed_page(*reply_of(feed_text({feed_entry("0-5"), feed_entry("0-8", before)})));
    REQUIRE(page.has_value());
    CHECK(page->state == read_state);
    fed_call wanted{.upto = 5,
                    .run = 0xffff'ffff'ffff'fffe,
                    .hour = 472'222,
                    .runs = {{.windows = {.hour = true, .day = true}, .fingerprints = {1, 2}, .budgets = {0, 1}},
                             {.windows = {.before = true}, .fingerprints = {~0ull}, .budgets = {1}}},
                    .budgets = {{.id = 7, .hourly = 10, .daily = 11}, {.id = ~0ull, .hourly = 20, .daily = 21}}};
    REQUIRE(page->calls.size() == 2);
    CHECK(page->calls[0] == wanted);
    wanted.upto = 8;
    wanted.budgets = {{.id = 7, .hourly = 10, .before = 1}, {.id = ~0ull, .hourly = 20, .before = 2}};
    CHECK(page->calls[1] == wanted);
    CHECK(read_feed_page(*reply_of(feed_text({})))->calls.empty());
    CHECK(read_feed_page(*reply_of(array(state_parts(1))))->state.status == heartbeat_status::other_epoch);
}

TEST_CASE("what is no feed is an error") {
    const auto error_of = [](const std::string& text) {
        const auto page = read_feed_page(*reply_of(text));
        return page ? "" : page.error();
    };
    REQUIRE(error_of(feed_text({feed_entry("0-5")})).empty());
    CHECK(error_of("-NOPERM no\r\n") == "NOPERM no");
    const words good = with(state_parts(0), {array({})});
    words wrong{nil,
                "*0\r\n",
                array(state_parts(0)),
                array(with(state_parts(1), {array({})})),
                array(changed(good, 13, nil)),
                array(changed(good, 13, bulk("")))};
    add_wrong(good, wrong_windows, wrong);
    add_wrong(good, wrong_states, wrong);

    words many;
    for (std::size_t i = 1; i <= feed_entries_max + 1; ++i) many.push_back(feed_entry("0-" + std::to_string(3 * i)));
    wrong.push_back(feed_text(many, 1'000));
    many.pop_back();
    CHECK(error_of(feed_text(many, 1'000)).empty());

    for (const char* const id : {"1-5", "0-x", "5", "0-78", "0-2", "0-9007199254740993"})
        wrong.push_back(feed_text({feed_entry(id)}));
    wrong.push_back(feed_text({feed_entry("0-5"), feed_entry("0-5")}));
    wrong.push_back(feed_text({array({bulk("0-5")})}));
    wrong.push_back(feed_text({array({bulk("0-5"), nil})}));
    wrong.push_back(feed_text({feed_entry("0-5", {})}));
    wrong.push_back(feed_text({feed_entry("0-5", with(feed_fields, {bulk("x"), bulk("1")}))}));

    std::string too_many;
    for (std::size_t i = 0; i <= 2 * call_budgets_max; ++i) too_many += std::to_string(i) + " 1 ";
    const wrong_parts wrong_fields{
        {1, {bulk("x")}},
        {3, {bulk("")}},
        {5, {bulk("1234567"), bulk(std::string(8, 'a')), bulk(std::string(32, 'a')), bulk(std::string(1032, 'a'))}},
        {7, {bulk(""), bulk("\2\3"s), bulk("\2\3\2\0"s), bulk("\2\x08\1\0"s), bulk("\2\3\1\2"s), bulk("\3\3\1\0"s)}},
        {9, {bulk("7"), bulk("7 x 8 1"), bulk("7 1 8"), bulk("7  1 8 1"), bulk("7 1 8 -1"), bulk(too_many)}},
        {9, {bulk("7 1 8 9007199254740993")}},
        {11, {bulk("7 1")}},
        {13, {bulk("7 1 8 1 9 1")}}};
    for (const auto& [at, parts] : wrong_fields)
        for (const std::string& part : parts)
            wrong.push_back(feed_text({feed_entry("0-5", changed(feed_fields, at, part))}));
    for (const std::string& text : wrong) {
        CAPTURE(text);
        CHECK(error_of(text) == "an answer that is no feed");
    }
}

// --- All of them.

TEST_CASE("replies with changed bytes are an error or as large as they may be") {
    random_numbers random{3};
    const std::string texts[] = {array(decided("k\0h\0"s)),
                                 array(with(state_parts(0), {bulk("one"), number(1), bulk("1.0"), number(0)})),
                                 feed_text({feed_entry("0-5")})};
    for (int i = 0; i < 20'000; ++i) {
        std::string text = texts[i % 3];
        // No '*': the reader makes room for as many parts as are announced.
        for (std::uint64_t changes = 1 + random.below(3); changes != 0; --changes)
            text[random.below(text.size())] = ":$-+\r\n0123456789\0k"[random.below(19)];
        const redis_reply got = reply_of(text);
        if (!got) continue;
        const auto answer = read_answer(*got, two);
        if (answer && answer->status == store_status::decided)
            REQUIRE((answer->series.size() == 2 && answer->budgets.size() == 1));
        if (const auto heard = read_heartbeat_answer(*got)) REQUIRE(heard->gates.size() <= 1);
        const auto page = read_feed_page(*got);
        for (const fed_call& each : page ? page->calls : std::vector<fed_call>{}) {
            REQUIRE(each.upto <= page->state.fed);
            for (const fed_run& run : each.runs)
                for (const std::uint8_t place : run.budgets) REQUIRE(place < each.budgets.size());
        }
    }
}

}  // namespace
}  // namespace seriesgate::testing::store_text_test
