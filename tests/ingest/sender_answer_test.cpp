// The table of docs/operation.md, "What senders are told": protocol, what happened, the store's answer.
#include "ingest/sender_answer.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing::sender_answer_test {
namespace {

constexpr auto written_samples = "X-Prometheus-Remote-Write-Samples-Written";
constexpr auto written_histograms = "X-Prometheus-Remote-Write-Histograms-Written";
constexpr auto written_exemplars = "X-Prometheus-Remote-Write-Exemplars-Written";

/// Ten samples, of which two are histograms, and an exemplar.
constexpr entry_counts ten{.samples = 10, .histograms = 2, .exemplars = 1};
/// Three of them, of two series.
constexpr entry_counts three{.samples = 3, .histograms = 1, .exemplars = 0};

const std::string refused_line = "refused 2 new series (3 samples): maxHourlySeries 7 is spent";
const std::string untranslated_line = "left out 1 native histogram with custom buckets: remote write 1 has none";

outgoing sent_as(body_action forward, protocol version) {
    outgoing made{.version = version, .forward = forward};
    made.decided.received = ten;
    if (forward != body_action::nothing) made.body = std::make_shared<const std::string>("body");
    if (forward == body_action::spliced || forward == body_action::nothing) {
        made.decided.refused = forward == body_action::nothing ? ten : three;
        made.decided.refused_series = 2;
    }
    return made;
}

outgoing told_of(outgoing of) {
    of.refused_text = refused_line;
    return of;
}

outgoing translated_with_loss() {
    outgoing made = sent_as(body_action::translated, protocol::v2);
    made.lost.histograms = 1;
    made.untranslated = {.samples = 1, .histograms = 1, .exemplars = 0};
    made.untranslated_text = untranslated_line;
    return made;
}

const std::string left_out_line = "left out 1 series (2 samples): 1 with a label without a name, the first up";

/// A series that breaks a rule, beside what was refused. @param is_told as of version 2, or of onLimit: reject.
outgoing with_left_out(outgoing made, bool is_told) {
    made.decided.left_out = {.samples = 2, .histograms = 0, .exemplars = 0};
    made.decided.left_out_series = 1;
    if (is_told) made.left_out_text = left_out_line;
    return made;
}

outgoing translated_with_loss_and_refused() {
    outgoing made = told_of(translated_with_loss());
    made.decided.refused = three;
    made.decided.refused_series = 2;
    return made;
}

reply of_store(unsigned status, std::string body = {}) {
    return {.status = status, .headers = {}, .body = std::move(body)};
}

reply of_store_with_counts(unsigned status, const char* samples, const char* histograms, const char* exemplars) {
    reply made = of_store(status);
    made.headers.set(written_samples, samples);
    made.headers.set(written_histograms, histograms);
    made.headers.set(written_exemplars, exemplars);
    return made;
}

/// `5/1/0`, or nothing if there are no such headers.
std::string written_of(const reply& answer) {
    std::string text;
    for (const auto* name : {written_samples, written_histograms, written_exemplars}) {
        const auto found = answer.headers.find(name);
        if (found == answer.headers.end()) continue;
        if (!text.empty()) text += '/';
        text.append(found->value());
    }
    return text;
}

/// `2/3`: series and samples, or nothing.
std::string refused_of(const reply& answer) {
    const auto series = answer.headers.find("X-Seriesgate-Refused-Series");
    const auto samples = answer.headers.find("X-Seriesgate-Refused-Samples");
    if (series == answer.headers.end() || samples == answer.headers.end()) return {};
    return std::string{series->value()}.append("/").append(samples->value());
}

std::string reason_of(const reply& answer) {
    return answer.rejected ? std::string{name_of(*answer.rejected)} : std::string{};
}

/// What the sender gets.
struct answered {
    unsigned status = 204;
    std::string body{};
    std::string refused{};
    std::string written{};
    std::string reason{};
    std::string left_out{};
};

/// What is made of the store's answer, and counted.
struct tally {
    confirmation confirmed = confirmation::none_due;
    std::uint64_t stored = 0;
};

struct row {
    const char* what;
    outgoing sent;
    answer_rules rules{};
    reply store = of_store(204);
    answered gets{};
    tally counts{};
};

std::vector<row> rows_of_v1() {
    const auto unchanged = sent_as(body_action::unchanged, protocol::v1);
    const auto spliced = sent_as(body_action::spliced, protocol::v1);
    const auto nothing = sent_as(body_action::nothing, protocol::v1);
    return {
        {.what = "all goes on", .sent = unchanged, .counts = {.stored = 10}},
        {.what = "all goes on, and the store has a word for it",
         .sent = unchanged,
         .store = of_store(200, "fine"),
         .gets = {.status = 200, .body = "fine"},
         .counts = {.stored = 10}},
        {.what = "the store's error is the answer",
         .sent = unchanged,
         .store = of_store(400, "out of order"),
         .gets = {.status = 400, .body = "out of order"}},
        {.what = "a series was left out, and who looks is told",
         .sent = with_left_out(unchanged, false),
         .gets = {.left_out = "1"},
         .counts = {.stored = 8}},
        {.what = "a series was left out, and senders are to hear of what is not stored",
         .sent = with_left_out(unchanged, true),
         .rules = {.reject_status = 409},
         .gets = {.status = 400, .body = left_out_line + "\n", .reason = "left_out", .left_out = "1"},
         .counts = {.stored = 8}},
        {.what = "a series was left out, and the store's error gets a line more",
         .sent = with_left_out(unchanged, false),
         .store = of_store(500, "no disk"),
         .gets = {.status = 500, .body = "no disk\nseriesgate: also left out 1 series (2 samples)\n", .left_out = "1"}},
        {.what = "dropped, and who looks is told",
         .sent = spliced,
         .gets = {.refused = "2/3"},
         .counts = {.stored = 7}},
        {.what = "dropped, and the store's error gets a line more",
         .sent = spliced,
         .store = of_store(500, "no disk"),
         .gets = {.status = 500,
                  .body = "no disk\nseriesgate: also refused 2 new series (3 samples)\n",
                  .refused = "2/3"}},
        {.what = "a redirection is no success and no error",
         .sent = told_of(spliced),
         .store = of_store(302, "elsewhere"),
         .gets = {.status = 302,
                  .body = "elsewhere\nseriesgate: also refused 2 new series (3 samples)\n",
                  .refused = "2/3"}},
        {.what = "an answer that has no body gets none",
         .sent = told_of(spliced),
         .store = of_store(304),
         .gets = {.status = 304, .refused = "2/3"}},
        {.what = "onLimit: reject",
         .sent = told_of(spliced),
         .rules = {.reject_status = 429},
         .gets = {.status = 429, .body = refused_line + "\n", .refused = "2/3", .reason = "refused"},
         .counts = {.stored = 7}},
        {.what = "onLimit: reject, and the store has an error of its own, which goes before",
         .sent = told_of(spliced),
         .rules = {.reject_status = 429},
         .store = of_store(503, "busy\n"),
         .gets = {.status = 503,
                  .body = "busy\nseriesgate: also refused 2 new series (3 samples)\n",
                  .refused = "2/3"}},
        {.what = "everything refused", .sent = nothing, .gets = {.refused = "2/10"}},
        {.what = "everything refused, onLimit: reject",
         .sent = told_of(nothing),
         .rules = {.reject_status = 409},
         .gets = {.status = 409, .body = refused_line + "\n", .refused = "2/10", .reason = "refused"}},
        {.what = "discard:", .sent = unchanged, .rules = {.discards = true}, .counts = {.stored = 10}},
    };
}

std::vector<row> rows_of_v2() {
    const auto unchanged = sent_as(body_action::unchanged, protocol::v2);
    const auto spliced = sent_as(body_action::spliced, protocol::v2);
    const auto nothing = sent_as(body_action::nothing, protocol::v2);
    using enum confirmation;
    return {
        {.what = "the store says that all is written",
         .sent = unchanged,
         .store = of_store_with_counts(204, "8", "2", "1"),
         .gets = {.written = "8/2/1"},
         .counts = {.confirmed = given, .stored = 10}},
        {.what = "the store says that less is written, and so do we",
         .sent = unchanged,
         .store = of_store_with_counts(204, "5", "0", "0"),
         .gets = {.written = "5/0/0"},
         .counts = {.confirmed = partial, .stored = 5}},
        {.what = "the store says that fewer histograms are written, and more samples",
         .sent = unchanged,
         .store = of_store_with_counts(204, "10", "1", "1"),
         .gets = {.written = "10/1/1"},
         .counts = {.confirmed = partial, .stored = 9}},
        {.what = "the store has no room for exemplars",
         .sent = unchanged,
         .store = of_store_with_counts(204, "8", "2", "0"),
         .gets = {.written = "8/2/0"},
         .counts = {.confirmed = given, .stored = 10}},
        {.what = "the store writes less than is left, and what was dropped on purpose does not make up for it",
         .sent = spliced,
         .store = of_store_with_counts(204, "5", "1", "1"),
         .gets = {.refused = "2/3", .written = "7/2/1"},
         .counts = {.confirmed = partial, .stored = 6}},
        {.what = "onLimit: reject, and the store writes less than is left",
         .sent = told_of(spliced),
         .store = of_store_with_counts(204, "5", "1", "1"),
         .gets =
             {.status = 400, .body = refused_line + "\n", .refused = "2/3", .written = "5/1/1", .reason = "refused"},
         .counts = {.confirmed = partial, .stored = 6}},
        {.what = "the store says that more is written than it was sent",
         .sent = unchanged,
         .store = of_store_with_counts(204, "500", "500", "1"),
         .gets = {.written = "500/500/1"},
         .counts = {.confirmed = given, .stored = 10}},
        {.what = "the store does not say", .sent = unchanged, .counts = {.confirmed = missing}},
        {.what = "the store does not say, and series were refused: counts that we made up would hide it",
         .sent = spliced,
         .gets = {.refused = "2/3"},
         .counts = {.confirmed = missing}},
        {.what = "an error with counts",
         .sent = unchanged,
         .store = of_store_with_counts(400, "3", "1", "0"),
         .gets = {.status = 400, .written = "3/1/0"},
         .counts = {.stored = 4}},
        {.what = "dropped on purpose counts as written",
         .sent = spliced,
         .store = of_store_with_counts(204, "6", "1", "1"),
         .gets = {.refused = "2/3", .written = "8/2/1"},
         .counts = {.confirmed = given, .stored = 7}},
        {.what = "onLimit: reject, and only what the store has counts as written",
         .sent = told_of(spliced),
         .store = of_store_with_counts(204, "6", "1", "1"),
         .gets =
             {.status = 400, .body = refused_line + "\n", .refused = "2/3", .written = "6/1/1", .reason = "refused"},
         .counts = {.confirmed = given, .stored = 7}},
        {.what = "everything refused",
         .sent = nothing,
         .gets = {.refused = "2/10", .written = "8/2/1"},
         .counts = {.confirmed = given}},
        {.what = "everything refused, onLimit: reject",
         .sent = told_of(nothing),
         .rules = {.reject_status = 429},
         .gets =
             {.status = 429, .body = refused_line + "\n", .refused = "2/10", .written = "0/0/0", .reason = "refused"},
         .counts = {.confirmed = given}},
        {.what = "a series was left out: never a success, and the counts say what is stored",
         .sent = with_left_out(sent_as(body_action::unchanged, protocol::v2), true),
         .store = of_store_with_counts(204, "6", "2", "1"),
         .gets =
             {.status = 400, .body = left_out_line + "\n", .written = "6/2/1", .reason = "left_out", .left_out = "1"},
         .counts = {.confirmed = given, .stored = 8}},
        {.what = "a series was left out, and others refused",
         .sent = told_of(with_left_out(spliced, true)),
         .rules = {.reject_status = 429},
         .store = of_store_with_counts(204, "4", "1", "1"),
         .gets = {.status = 429,
                  .body = refused_line + "\n" + left_out_line + "\n",
                  .refused = "2/3",
                  .written = "4/1/1",
                  .reason = "refused",
                  .left_out = "1"},
         .counts = {.confirmed = given, .stored = 5}},
        {.what = "discard:",
         .sent = spliced,
         .rules = {.discards = true},
         .gets = {.refused = "2/3", .written = "8/2/1"},
         .counts = {.confirmed = given, .stored = 7}},
        {.what = "translated: a success is all of it",
         .sent = sent_as(body_action::translated, protocol::v2),
         .gets = {.written = "8/2/1"},
         .counts = {.confirmed = given, .stored = 10}},
        {.what = "translated, and the store has an error",
         .sent = sent_as(body_action::translated, protocol::v2),
         .store = of_store(500, "no"),
         .gets = {.status = 500, .body = "no"}},
        {.what = "translated, with something left out",
         .sent = translated_with_loss(),
         .rules = {.reject_status = 429},
         .gets = {.status = 400, .body = untranslated_line + "\n", .written = "8/1/1", .reason = "untranslated"},
         .counts = {.confirmed = given, .stored = 9}},
        {.what = "translated, with something left out and something refused",
         .sent = translated_with_loss_and_refused(),
         .rules = {.reject_status = 429},
         .gets = {.status = 429,
                  .body = refused_line + "\n" + untranslated_line + "\n",
                  .refused = "2/3",
                  .written = "6/0/1",
                  .reason = "refused"},
         .counts = {.confirmed = given, .stored = 6}},
    };
}

void check(const row& expected) {
    CAPTURE(expected.what);
    reply answer = expected.store;
    CHECK(stored_samples(expected.sent, expected.rules, answer) == expected.counts.stored);
    CHECK(finish_answer(expected.sent, expected.rules, answer) == expected.counts.confirmed);
    CHECK(answer.status == expected.gets.status);
    CHECK(answer.body == expected.gets.body);
    CHECK(refused_of(answer) == expected.gets.refused);
    CHECK(written_of(answer) == expected.gets.written);
    CHECK(reason_of(answer) == expected.gets.reason);
    CHECK(std::string{answer.headers["X-Seriesgate-Left-Out-Series"]} == expected.gets.left_out);
    CHECK_FALSE(answer.close);
}

http::fields saying(std::initializer_list<std::pair<const char*, const char*>> counts) {
    http::fields headers;
    for (const auto& [what, count] : counts)
        headers.set(std::string{"X-Prometheus-Remote-Write-"} + what + "-Written", count);
    return headers;
}

TEST_CASE("what senders of remote write 1 are told") {
    for (const row& each : rows_of_v1()) check(each);
}

TEST_CASE("what senders of remote write 2 are told") {
    for (const row& each : rows_of_v2()) check(each);
}

TEST_CASE("an error in place of a success is a text, and keeps the other headers") {
    reply answer = of_store(200, "{}");
    answer.headers.set(http::field::content_type, "application/json");
    answer.headers.set(http::field::etag, "x");
    answer.headers.set("X-Other", "stays");
    (void)finish_answer(told_of(sent_as(body_action::spliced, protocol::v1)), {}, answer);
    CHECK(answer.status == 400);
    CHECK(answer.headers[http::field::content_type] == "text/plain; charset=utf-8");
    CHECK(answer.headers["X-Content-Type-Options"] == "nosniff");
    CHECK(answer.headers.count(http::field::etag) == 0);
    CHECK(answer.headers["X-Other"] == "stays");
}

TEST_CASE("what the gate has changed keeps no digest of what the store had sent") {
    const unsigned status = GENERATE(200u, 400u);
    for (const char* const header : {"Content-Digest", "Digest", "Content-MD5", "ETag"}) {
        CAPTURE(status, header);
        reply answer = of_store(status, "x");
        answer.headers.set(header, "of x");
        (void)finish_answer(told_of(sent_as(body_action::spliced, protocol::v1)), {}, answer);
        CHECK(answer.body != "x");
        CHECK(answer.headers.count(header) == 0);
    }
}

TEST_CASE("nothing is written behind an error that is compressed") {
    reply answer = of_store(500, "\x1f\x8b");
    answer.headers.set(http::field::content_encoding, "gzip");
    (void)finish_answer(sent_as(body_action::spliced, protocol::v1), {}, answer);
    CHECK(answer.body == "\x1f\x8b");
    CHECK(refused_of(answer) == "2/3");
}

TEST_CASE("what a store says that it has written is read") {
    CHECK(read_written(saying({{"Samples", "3"}, {"Histograms", "2"}, {"Exemplars", "1"}})) ==
          written_counts{.samples = 3, .histograms = 2, .exemplars = 1});
    CHECK(read_written(saying({{"Samples", "18446744073709551615"}}))->samples == ~std::uint64_t{0});
}

TEST_CASE("a count that is missing is 0, and three that are missing say nothing") {
    CHECK(read_written(saying({{"Histograms", "2"}})) == written_counts{.samples = 0, .histograms = 2, .exemplars = 0});
    CHECK_FALSE(read_written({}));
}

TEST_CASE("a count that is no number says nothing") {
    const char* const wrong = GENERATE("", "1 2", "-1", "+1", "1.5", "0x1", "18446744073709551616", "one");
    CAPTURE(wrong);
    CHECK_FALSE(read_written(saying({{"Samples", wrong}, {"Histograms", "2"}})));
}

TEST_CASE("counts are written as they are read, in place of others") {
    const written_counts counts{.samples = 30, .histograms = 20, .exemplars = 10};
    http::fields headers = saying({{"Samples", "1"}});
    write_written(counts, headers);
    CHECK(read_written(headers) == counts);
    CHECK(headers.count("X-Prometheus-Remote-Write-Samples-Written") == 1);
}

TEST_CASE("a plan's samples have the histograms in them, and what is told has not") {
    written_counts counts = seriesgate::written_of({.samples = 10, .histograms = 4, .exemplars = 2});
    CHECK(counts == written_counts{.samples = 6, .histograms = 4, .exemplars = 2});
    counts += {.samples = 1, .histograms = 1, .exemplars = 1};
    CHECK(counts == written_counts{.samples = 7, .histograms = 5, .exemplars = 3});
}

}  // namespace
}  // namespace seriesgate::testing::sender_answer_test
