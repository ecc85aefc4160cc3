#include "http/route_table.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("a text ends its line and says that it is a text") {
    const reply made = text_reply(200, "OK");
    CHECK(made.status == 200);
    CHECK(made.text() == "OK\n");
    CHECK(made.headers[http::field::content_type] == "text/plain; charset=utf-8");
    CHECK(made.headers["X-Content-Type-Options"] == "nosniff");
    CHECK_FALSE(made.rejected);
}

TEST_CASE("a rejection knows its reason, and only who may come again is told so") {
    const reply made = rejection(reject_reason::malformed, 400, "no");
    CHECK(made.rejected == reject_reason::malformed);
    CHECK(made.headers.count(http::field::retry_after) == 0);
    const reply later = GENERATE(overloaded({}), out_of_memory(), too_busy({}, {}));
    CHECK(later.status == 503);
    CHECK((later.rejected == reject_reason::overloaded || later.rejected == reject_reason::queue_delay));
    CHECK(later.headers[http::field::retry_after] == "1");
}

TEST_CASE("a shared text takes the place of the body") {
    reply made{.status = 200, .body = "own"};
    CHECK(made.text() == "own");
    made.shared_body = std::make_shared<const std::string>("shared");
    CHECK(made.text() == "shared");
}

TEST_CASE("what a sender wrote is shown in one line of ASCII, and not whole") {
    CHECK(shown_in_answer("text/plain") == "text/plain");
    CHECK(shown_in_answer("a\nb\x7f\xc3\xa9") == "a?b???");
    CHECK(shown_in_answer(std::string(101, 'x')) == std::string(100, 'x') + "...");
}
