#include "http/route_table.hpp"

#include "support/answers.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::route_table_test {
namespace {

net::awaitable<reply> take(http_request& request) {
    reply made{.status = 204, .body = std::move(request.body)};
    co_return made;
}

net::awaitable<reply> tell(http_request&) {
    co_return text_reply(200, "told");
}

TEST_CASE("a path is found whole and as it is written") {
    const route_table routes{{"/write", "POST", route_kind::ingestion, take},
                             {"/tell", "GET, HEAD", route_kind::admin, tell}};
    REQUIRE(routes.find("/write") != nullptr);
    CHECK(routes.find("/write")->kind == route_kind::ingestion);
    CHECK(routes.find("/write")->methods == "POST");
    REQUIRE(routes.find("/tell") != nullptr);
    CHECK(routes.find("/tell")->kind == route_kind::admin);
    for (const auto* path : {"", "/", "/Write", "/write/", "/writ", "//write", "/write?x=1", "write", "*"})
        CHECK(routes.find(path) == nullptr);
}

TEST_CASE("a path with a tenant is found by its form, and never as it is written") {
    const route_table routes{{"/insert/{account}/write", "POST", route_kind::ingestion, take},
                             {"/insert/7/tell", "GET, HEAD", route_kind::admin, tell}};
    std::string tenant;
    CHECK(routes.find_by_tenant("/insert/7:0/write", tenant) == &routes.all().front());
    CHECK(tenant == "7");
    tenant.clear();
    for (const auto* path : {"/insert/{account}/write", "/insert/a/write", "/insert/7/tell", "/write", ""}) {
        CHECK(routes.find_by_tenant(path, tenant) == nullptr);
        CHECK(tenant.empty());
    }
    CHECK(routes.find("/insert/{account}/write") == nullptr);
    CHECK(routes.find("/insert/7/write") == nullptr);
    CHECK(routes.find("/insert/7/tell") != nullptr);
}

TEST_CASE("a route's handler answers, and may take the body") {
    const route_table routes{{"/write", "POST", route_kind::ingestion, take}};
    asked_request asked{.body = "some bytes"};
    const reply answer = answer_of(*routes.find("/write"), asked);
    CHECK(answer.status == 204);
    CHECK(answer.text() == "some bytes");
}

TEST_CASE("the routes of one kind are a table of their own") {
    const route_table routes{{"/write", "POST", route_kind::ingestion, take},
                             {"/tell", "GET, HEAD", route_kind::admin, tell},
                             {"/push", "POST", route_kind::ingestion, take}};
    const route_table senders = routes.of(route_kind::ingestion);
    CHECK(senders.all().size() == 2);
    CHECK(senders.find("/write") != nullptr);
    CHECK(senders.find("/push") != nullptr);
    CHECK(senders.find("/tell") == nullptr);
    CHECK(routes.of(route_kind::admin).all().size() == 1);
    CHECK(senders.of(route_kind::admin).all().empty());
}

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
    const reply later = GENERATE(overloaded({}), out_of_memory());
    CHECK(later.status == 503);
    CHECK(later.rejected == reject_reason::overloaded);
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

}  // namespace
}  // namespace seriesgate::testing::route_table_test
