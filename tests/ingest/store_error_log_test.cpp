#include "ingest/texts.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace store_error_log_test {
namespace {

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

}  // namespace

TEST_CASE("each status is told of at once, then at most every ten seconds") {
    store_error_logs log;
    const auto start = throttled_log::clock::time_point{} + 1h;
    CHECK(log.count(400, 1, start) == 1);
    CHECK_FALSE(log.count(400, 1, start + 9s));
    CHECK(log.count(500, 1, start + 9s) == 1);
    CHECK(log.count(400, 1, start + 10s) == 2);
    CHECK(log.count(300, 1, start) == 1);
    CHECK(log.count(599, 1, start) == 1);
}

TEST_CASE("those behind the last line are told of by status, when it is time") {
    store_error_logs log;
    const auto start = throttled_log::clock::time_point{} + 1h;
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

TEST_CASE("a success is no error") {
    store_error_logs log;
    for (const unsigned status : {100u, 200u, 204u, 299u, 600u}) CHECK_FALSE(log.count(status, 1));
}

TEST_CASE("senders try again after 429 and 5xx, and drop what gets another answer") {
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

}  // namespace store_error_log_test
