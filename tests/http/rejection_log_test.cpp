#include "http/rejection_log.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

TEST_CASE("each reason is told of at once, then at most every ten seconds, with how many there were") {
    rejection_log log;
    const auto start = std::chrono::steady_clock::time_point{} + 1h;
    CHECK(log.count(reject_reason::malformed, start) == 1);
    CHECK_FALSE(log.count(reject_reason::malformed, start + 1s));
    CHECK(log.count(reject_reason::timeout, start + 1s) == 1);
    CHECK_FALSE(log.count(reject_reason::malformed, start + 9s));
    CHECK(log.count(reject_reason::malformed, start + 10s) == 3);
}

TEST_CASE("of requests that were taken but for some of what they held, others tell") {
    rejection_log log;
    CHECK_FALSE(log.count(reject_reason::refused));
    CHECK_FALSE(log.count(reject_reason::untranslated));
}

TEST_CASE("the line says how many, why, who and what was answered") {
    const reply large = rejection(reject_reason::too_large, 400, "body larger than server.maxRequestBytes");
    CHECK(describe_rejection(large, 1, "192.0.2.7", "") ==
          "rejected 1 request since the last such line (too_large), for example from 192.0.2.7: 400 body larger than "
          "server.maxRequestBytes");
    CHECK(describe_rejection(large, 7, "2001:db8::1", "shop\n\"a\"") ==
          "rejected 7 requests since the last such line (too_large), for example from 2001:db8::1, tenant "
          "\"shop\\x0a\\\"a\\\"\": 400 body larger than server.maxRequestBytes");
    const reply lines = rejection(reject_reason::malformed, 400, "first\nsecond");
    CHECK(describe_rejection(lines, 1, "", "") ==
          "rejected 1 request since the last such line (malformed), for example from a sender that has gone: 400 "
          "first");
}

TEST_CASE("a long tenant name is cut in the log") {
    const reply some = rejection(reject_reason::malformed, 400, "x");
    const std::string line = describe_rejection(some, 1, "192.0.2.7", std::string(5000, 'a'));
    CHECK(line.find(", tenant \"" + std::string(100, 'a') + "\": 400 x") != std::string::npos);
}
