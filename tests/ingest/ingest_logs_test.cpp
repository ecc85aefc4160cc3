#include "ingest/ingest_logs.hpp"

#include "ingest/requests.hpp"
#include "ingest/sender_texts.hpp"
#include "limit/limiter.hpp"
#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate::testing::ingest_logs_test {
namespace {

constexpr monotonic_clock::time_point start{1h};

std::string tenant(int number) {
    return std::to_string(number);
}

struct planned {
    series_limiter limiter{limit_rules{}, noon};
    planner planning{hash_key::known_to_all()};
    std::string body;
    plan decided{};

    explicit planned(std::string text, protocol version = protocol::v1) : body(std::move(text)) {
        const auto made = planning(body, limiter, noon, "", version);
        REQUIRE(made.has_value());
        decided = *made;
    }
    std::string text() { return left_out_text(decided, planning); }
    void note(ingest_metrics& metrics, left_out_logs& to) {
        note_left_out(
            {.decided = decided, .planning = planning, .limiter = limiter, .sender = "10.0.0.7", .tenant = "shop"},
            metrics, to);
    }
};

const std::string too_long(label_bytes_max + 1, 'x');

std::string annotated(std::string_view metric) {
    return series({label("__name__", metric), label("annotation_a", "1"), label("annotation_b", too_long), sample(1)});
}

std::string line_of(const reply& answer, std::uint64_t requests) {
    store_config store;
    store.backends.resize(2);
    store.backends[1].url = "http://store/w?token=abc";
    store.headers.emplace("X-Key", "hunter2");
    const store_words said = said_by_store(answer, {store, "upstream"});
    const auto fields = describe_store_error(answer.status, said, requests, "192.0.2.7", "shop");
    const std::string line = log::line_of(log::format::logfmt, log::level::warn, {}, "x", fields);
    return line.substr(line.find("requests="));
}

TEST_CASE("the first refusal of a limit is said at once, further ones in ten seconds, all of them") {
    refusal_log log;
    CHECK(log.count("global", "a", 5, start).samples == 5);
    CHECK(log.count("global", "a", 7, start + 1s).samples == 0);
    CHECK(log.count("global", "a", 1, start + 9'999ms).samples == 0);
    CHECK(log.count("global", "a", 2, start + 10s).samples == 10);
    CHECK(log.count("global", "a", 1, start + 11s).samples == 0);
}

TEST_CASE("two that explode at once are both said, each with what is its own") {
    refusal_log log;
    std::map<std::string, std::uint64_t> told;
    std::map<std::string, std::uint64_t> lines;
    for (int second = 0; second < 3600; ++second)
        for (const auto& [tracker, samples] : {std::pair{"a", 1000u}, std::pair{"b", 1u}}) {
            const auto said = log.count("global", tracker, samples, start + std::chrono::seconds{second});
            told[tracker] += said.samples;
            lines[tracker] += said.samples != 0 ? 1 : 0;
            if (said.others) FAIL("nothing had to wait");
        }
    // What came after the last line is yet to be said.
    CHECK(told == std::map<std::string, std::uint64_t>{{"a", 3'591'000}, {"b", 3'591}});
    CHECK(lines == std::map<std::string, std::uint64_t>{{"a", 360}, {"b", 360}});
}

TEST_CASE("a tenant's limits are apart, too") {
    refusal_log log;
    CHECK(log.count("global", "a", 1, start).samples == 1);
    CHECK(log.count("tenant", "a", 2, start).samples == 2);
    CHECK(log.count("per-pod", "a", 3, start).samples == 3);
}

TEST_CASE("in ten seconds there are ten lines, and what finds none is summed up") {
    refusal_log log;
    int lines = 0;
    for (int i = 0; i < 10; ++i) lines += log.count("tenant", tenant(i), 100, start).samples == 100 ? 1 : 0;
    CHECK(lines == 10);

    const auto eleventh = log.count("tenant", tenant(10), 100, start);
    CHECK(eleventh.samples == 0);
    REQUIRE(eleventh.others);
    CHECK(eleventh.others->samples == 100);
    CHECK(eleventh.others->limits == 1);

    for (int i = 10; i < 30; ++i)
        for (int again = 0; again < 2; ++again) {
            const auto said = log.count("tenant", tenant(i), 50, start + 9s);
            if (said.samples != 0 || said.others) FAIL(i);
        }
    const auto next = log.count("tenant", tenant(29), 7, start + 10s);
    CHECK(next.samples == 7);  // what it had before is in the summary
    REQUIRE(next.others);
    CHECK(next.others->samples == 2000);
    CHECK(next.others->limits == 20);
}

TEST_CASE("what came after the last line of an explosion is in a summary") {
    refusal_log log;
    log.count("tenant", "a", 5, start);
    log.count("tenant", "a", 6, start + 1s);
    const auto soon = log.count("tenant", "b", 1, start + 19s);
    CHECK((soon.samples == 1 && !soon.others));
    const auto later = log.count("tenant", "b", 1, start + 29s);
    REQUIRE(later.others);
    CHECK(later.others->samples == 6);
    CHECK(later.others->limits == 1);
}

TEST_CASE("who looks now and then hears of it, though nothing more is refused") {
    refusal_log log;
    CHECK_FALSE(log.rest(start));
    log.count("tenant", "a", 5, start);
    CHECK_FALSE(log.rest(start + 30s));  // all has been said
    log.count("tenant", "a", 5, start + 40s);
    log.count("tenant", "a", 6, start + 41s);
    std::uint64_t said = 0;
    for (auto now = start + 42s; now < start + 60s; now += 1s)
        if (log.rest(now)) FAIL("said too early: it is that limit's own line");
    for (auto now = start + 60s; now < start + 90s; now += 1s) {
        const auto rest = log.rest(now);
        said += rest ? rest->samples : 0;
    }
    CHECK(said == 6);
}

TEST_CASE("nothing is lost and nothing is said twice, whoever explodes") {
    refusal_log log;
    std::uint64_t refused = 0;
    std::uint64_t said = 0;
    std::uint64_t lines = 0;
    std::uint64_t summaries = 0;
    for (int second = 0; second < 600; ++second)
        for (int i = 0; i < 1200; ++i) {
            const std::uint64_t samples = static_cast<std::uint64_t>(i) * 7 + 1;
            refused += samples;
            const auto due = log.count(i % 2 == 0 ? "global" : "tenant", tenant(i), samples, start + 1s * second);
            said += due.samples + (due.others ? due.others->samples : 0);
            lines += due.samples != 0 ? 1 : 0;
            summaries += due.others ? 1 : 0;
        }
    CHECK(lines == 600);  // ten in ten seconds
    CHECK(summaries == 60);
    const auto last = log.count("x", "x", 0, start + 1h);
    REQUIRE(last.others);
    CHECK(said + last.others->samples == refused);
}

TEST_CASE("nothing is said of a request of which nothing was left out") {
    CHECK(planned{body_v1({"a"})}.text().empty());
}

TEST_CASE("each fault is named with the first series that has it, by metric and label") {
    planned of{body_v1({"a"}) + annotated("kube_a") + annotated("kube_b") +
               series({label("__name__", "up"), label("", "x"), sample(1)}) +
               series({label("", "nobody"), sample(1), sample(2)})};
    CHECK(of.text() ==
          "left out 4 series (5 samples): 2 with a label without a name, the first up; 2 with a label name or value of "
          "more than 262144 bytes, the first kube_a, its label annotation_b");
}

TEST_CASE("a series without a metric's name is shown by its labels, and a name without a value by what it is") {
    CHECK(planned{series({label("", "nobody"), label("job", "a"), sample(1)})}.text() ==
          "left out 1 series (1 sample): 1 with a label without a name, the first {=\"nobody\",job=\"a\"}");
    const std::string odd = len_field(5, len_field(1, varint(1) + varint(2) + varint(3)) + sample(1));
    CHECK(planned{symbols_v2({"a"}) + odd, protocol::v2}.text() ==
          "left out 1 series (1 sample): 1 with an odd number of label references: a name without a value, the first "
          "up, its label job");
}

TEST_CASE("what is shown is short and safe, whatever was sent") {
    const std::string name = "\x1b[31m" + std::string(1000, 'n');
    planned of{series({label("__name__", name), label(too_long, "v"), sample(1)})};
    CHECK(of.text().size() < 600);
    CHECK(of.text().find('\x1b') == std::string::npos);
}

TEST_CASE("the log has a line for each fault, and the figures count them all") {
    planned of{annotated("kube_a") + annotated("kube_b") + series({label("", "x"), sample(1)})};
    left_out_logs log;
    log::set_up(log::format::logfmt, log::level::warn);
    const captured_log lines;
    ingest_metrics metrics;
    of.note(metrics, log);
    of.note(metrics, log);
    const std::string text = lines.text();
    CHECK(text.starts_with(
        "level=warn msg=\"series left out\" series=1 reason=label_without_name metric=\"\" label=\"\" sender=10.0.0.7 "
        "tenant=shop example=\"{=\\\"x\\\"}\"\nlevel=warn msg=\"series left out\" series=2 reason=label_too_long "
        "metric=kube_a label=annotation_b sender=10.0.0.7 tenant=shop example=\"kube_a{annotation_a="));
    CHECK(std::ranges::count(text, '\n') == 2);
    CHECK(metrics.series_left_out[series_fault::label_too_long].value() == 4);
    CHECK(metrics.series_left_out[series_fault::label_without_name].value() == 2);
    CHECK(metrics.samples_left_out.value() == 6);
}

TEST_CASE("what is not confirmed is told at once, then every minute, requests and samples") {
    lost_log log{1min};
    const auto first = log.count(5, start);
    REQUIRE(first);
    CHECK(first->requests == 1);
    CHECK(first->samples == 5);
    for (int i = 0; i < 66; ++i) CHECK_FALSE(log.count(10, start + 1s + std::chrono::milliseconds{i}));
    const auto next = log.count(1, start + 60s);
    REQUIRE(next);
    CHECK(next->requests == 67);
    CHECK(next->samples == 661);
}

TEST_CASE("the last that are not confirmed are told without a further one") {
    lost_log log{1min};
    CHECK_FALSE(log.rest(start));
    log.count(1, start);
    CHECK_FALSE(log.rest(start + 1h));
    log.count(0, start + 1h);
    log.count(7, start + 1h + 1s);
    CHECK_FALSE(log.rest(start + 1h + 119s));
    const auto last = log.rest(start + 1h + 120s);
    REQUIRE(last);
    CHECK(last->requests == 1);
    CHECK(last->samples == 7);
    CHECK_FALSE(log.rest(start + 3h));
}

TEST_CASE("each status is told of at once, then at most every ten seconds") {
    store_error_logs log;
    CHECK(log.count(400, 1, start) == 1);
    CHECK_FALSE(log.count(400, 1, start + 9s));
    CHECK(log.count(500, 1, start + 9s) == 1);
    CHECK(log.count(400, 1, start + 10s) == 2);
    CHECK(log.count(300, 1, start) == 1);
    CHECK(log.count(599, 1, start) == 1);
}

TEST_CASE("those behind the last line are told of by status, when it is time") {
    store_error_logs log;
    for (int i = 0; i < 3; ++i) log.count(300, 1, start);
    for (int i = 0; i < 5; ++i) log.count(599, 1, start + 1s);
    std::string told;
    const auto tell = [&told](unsigned status, std::uint64_t requests) {
        told += std::to_string(status) + ":" + std::to_string(requests) + " ";
    };
    log.rest(tell, start + 20s);
    CHECK(told == "300:2 ");
    log.rest(tell, start + 21s);
    CHECK(told == "300:2 599:4 ");
    log.rest(tell, start + 1h);
    CHECK(told == "300:2 599:4 ");
}

TEST_CASE("a success is no error, and senders try again after 429 and 5xx alone") {
    store_error_logs log;
    for (const unsigned status : {100u, 200u, 204u, 299u, 600u}) CHECK_FALSE(log.count(status, 1));
    for (const unsigned status : {429u, 500u, 503u, 599u}) CHECK(senders_then(status) == "retry");
    for (const unsigned status : {301u, 400u, 409u, 428u, 430u, 499u}) CHECK(senders_then(status) == "drop");
}

TEST_CASE("what was sent to the store in its URL is left out of what it says") {
    const reply repeats{.status = 400, .body = "no: /w?token=abc"};
    CHECK(line_of(repeats, 1).ends_with(" err=\"no: /w?<secret>\""));
}

TEST_CASE("nor does it stand in the time that it names") {
    reply repeats{.status = 503};
    repeats.headers.set(http::field::retry_after, "hunter2");
    CHECK(line_of(repeats, 1) ==
          "requests=1 status=503 senders=retry retry_after=<secret> sender=192.0.2.7 tenant=shop err=\"\"");
}

TEST_CASE("the line has the first line of what the store says, cut") {
    const reply order{.status = 400, .body = "out of order\nsample"};
    CHECK(line_of(order, 7) ==
          "requests=7 status=400 senders=drop retry_after=\"\" sender=192.0.2.7 tenant=shop err=\"out of order\"");
    reply busy{.status = 503, .body = std::string(1000, 'x') + "\r\nx"};
    busy.headers.set(http::field::retry_after, "30");
    CHECK(line_of(busy, 1) == "requests=1 status=503 senders=retry retry_after=30 sender=192.0.2.7 tenant=shop err=" +
                                  std::string(256, 'x'));
}

TEST_CASE("what is compressed is not shown") {
    reply packed{.status = 400, .body = "\x1f\x8b"};
    packed.headers.set(http::field::content_encoding, "gzip");
    CHECK(line_of(packed, 1).ends_with("err=\"\""));
}

}  // namespace
}  // namespace seriesgate::testing::ingest_logs_test
