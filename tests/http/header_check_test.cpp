#include "http/request_reading.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing::header_check_test {
namespace {

net::awaitable<reply> never(http_request&) {
    co_return reply{};
}

/// A gate with a path that is written to and one that is read, and room for so much.
struct scene {
    const route_table routes{{"/write", "POST", route_kind::ingestion, never},
                             {"/tell", "GET, HEAD", route_kind::admin, never},
                             {"/", "GET, HEAD", route_kind::admin, never}};
    std::vector<std::string> hosts{};
    gauge held;
    inflight_room room{held, 2000, 1000};
    inflight_lease memory{room};

    header_verdict check(http::verb method, std::string_view target,
                         std::optional<std::uint64_t> content_length = std::nullopt) {
        return check(sound(method, target), content_length);
    }
    header_verdict check(const request_header& header, std::optional<std::uint64_t> content_length = std::nullopt) {
        return check_header(header, content_length,
                            {.routes = routes,
                             .tenant_header = "X-Scope-OrgID",
                             .hosts = hosts,
                             .body_bytes_max = 500,
                             .memory = memory});
    }
    static request_header sound(http::verb method, std::string_view target) {
        request_header header;
        header.version(11);
        header.method(method);
        header.target(target);
        header.set(http::field::host, "gate:9201");
        return header;
    }
};

TEST_CASE("a sound header is rejected for nothing, and its route is known") {
    scene at;
    for (const auto* target : {"/write", "/write?", "/write?a=/tell"}) {
        const auto verdict = at.check(http::verb::post, target, 500);
        CHECK_FALSE(verdict.answer);
        CHECK(verdict.to == at.routes.find("/write"));
    }
    CHECK_FALSE(at.check(http::verb::get, "/tell").answer);
    CHECK_FALSE(at.check(http::verb::head, "/tell?x").answer);
    CHECK_FALSE(at.check(http::verb::post, "/write").answer);  // chunked: nobody knows its length
}

TEST_CASE("a page of another site writes nothing and asks nothing") {
    struct row {
        http::verb method;
        std::string_view site, origin, mode, host;
        std::vector<std::string> hosts;
        bool is_rejected;
    };
    const auto get = http::verb::get, post = http::verb::post;
    const std::string_view none, own = "http://gate:9201", other = "https://evil.example", gate = "gate:9201";
    const std::vector<row> rows{
        {post, none, none, none, gate, {}, false},
        {post, "same-origin", own, "cors", gate, {}, false},
        {post, none, "http://GATE:9201", none, gate, {}, false},
        {post, none, "https://gate", none, "gate", {}, false},
        {post, none, "https://gate", none, "gate:443", {}, false},
        {get, "none", none, "navigate", gate, {}, false},
        {get, "cross-site", none, "navigate", gate, {}, false},
        {get, "same-site", none, "no-cors", gate, {}, false},
        {get, "cross-site", none, "no-cors", gate, {}, true},
        {post, "cross-site", none, "navigate", gate, {}, true},
        {post, "cross-site", own, "no-cors", gate, {}, true},
        {post, none, other, none, gate, {}, true},
        {post, none, "null", none, gate, {}, true},
        {post, none, "http://gate:9202", none, gate, {}, true},
        {post, "same-origin", "https://gate.example", "cors", gate, {"gate.example", gate.data()}, false},
        {post, "same-origin", "https://gate.example:8443", "cors", gate, {"gate.example"}, true},
        {get, "same-origin", none, "cors", "evil.example", {"gate.example"}, true},
        {get, none, none, none, "10.0.0.7:9201", {"gate.example"}, false},
    };
    for (const row& each : rows) {
        CAPTURE(each.method, each.site, each.origin, each.mode, each.host);
        scene at;
        at.hosts = each.hosts;
        request_header header = scene::sound(each.method, each.method == get ? "/tell" : "/write");
        header.set(http::field::host, each.host);
        if (!each.site.empty()) header.set("Sec-Fetch-Site", each.site);
        if (!each.origin.empty()) header.set(http::field::origin, each.origin);
        if (!each.mode.empty()) header.set("Sec-Fetch-Mode", each.mode);
        const auto verdict = at.check(header);
        CHECK(verdict.answer.has_value() == each.is_rejected);
        if (verdict.answer) CHECK(verdict.answer->status == 403);
    }
}

TEST_CASE("a path that there is not is 404, whatever the method") {
    scene at;
    for (const auto method : {http::verb::get, http::verb::post, http::verb::delete_}) {
        const auto verdict = at.check(method, "/other?x=/write");
        REQUIRE(verdict.answer);
        CHECK(verdict.to == nullptr);
        CHECK(verdict.answer->status == 404);
        CHECK(verdict.answer->rejected == reject_reason::unknown_path);
        CHECK_FALSE(verdict.answer->close);
        CHECK(verdict.answer->text() == "no such path: /other; remote write goes to /write; / says what there is\n");
    }
    const auto long_one = at.check(http::verb::get, "/" + std::string(500, 'x'));
    CHECK(long_one.answer->text() ==
          "no such path: /" + std::string(99, 'x') + "...; remote write goes to /write; / says what there is\n");
}

TEST_CASE("another method than the path takes is 405, and the answer says which it takes") {
    scene at;
    const auto read = at.check(http::verb::put, "/write");
    REQUIRE(read.answer);
    CHECK(read.to == at.routes.find("/write"));  // so that it is counted among the requests
    CHECK(read.answer->status == 405);
    CHECK(read.answer->rejected == reject_reason::method_not_allowed);
    CHECK(read.answer->headers[http::field::allow] == "GET, HEAD, POST, OPTIONS");
    CHECK(read.answer->text() == "method not allowed: this path takes POST, not PUT\n");
    const auto written = at.check(http::verb::post, "/tell");
    REQUIRE(written.answer);
    CHECK(written.answer->headers[http::field::allow] == "GET, HEAD, OPTIONS");
}

TEST_CASE("who only asks whether the gate is there is answered, and brings no data") {
    struct row {
        http::verb method;
        std::string_view target;
        unsigned status;
        std::string_view allow;
    };
    const auto get = http::verb::get, head = http::verb::head, options = http::verb::options;
    scene at;
    for (const auto& [method, target, status, allow] :
         std::initializer_list<row>{{get, "/write", 200, ""},
                                    {head, "/write?x", 200, ""},
                                    {options, "/", 204, "GET, HEAD, OPTIONS"},
                                    {options, "*", 204, "GET, HEAD, POST, OPTIONS"},
                                    {options, "/tell", 204, "GET, HEAD, OPTIONS"},
                                    {options, "/write/", 204, "GET, HEAD, POST, OPTIONS"}}) {
        const auto verdict = at.check(method, target);
        REQUIRE(verdict.answer);
        CHECK(verdict.is_probe);
        CHECK(verdict.answer->status == status);
        CHECK_FALSE(verdict.answer->rejected);
        CHECK(verdict.answer->headers[http::field::allow] == allow);
    }
    CHECK(at.check(options, "/other").answer->status == 404);
    CHECK(at.check(http::verb::post, "*").answer->status == 404);
    CHECK(at.check(options, "/write").to == at.routes.find("/write"));  // so that it is known whose right it takes
    CHECK_FALSE(at.check(http::verb::post, "/write").is_probe);
}

TEST_CASE("a path that is written in another way is the same path") {
    scene at;
    for (const auto* target : {"//write", "/write/", "///write//?a=b", "/%77rite", "http://gate:9201/write",
                               "HTTP://GATE:9201//write?x", "https://gate:9201/write"})
        CHECK(at.check(http::verb::post, target).to == at.routes.find("/write"));
    CHECK(at.check(http::verb::get, "http://gate:9201").to == at.routes.find("/"));
    CHECK(at.check(http::verb::get, "http://gate:9201/?x").to == at.routes.find("/"));
    for (const auto* target :
         {"/./write", "/x/../write", "/%2Fwrite", "/write%20", "/%7", "/write%", "/Write", "write", "/write;a",
          "/write#", "http://gate:9202/write", "http://gate/write", "ftp://gate:9201/write", "http:///write",
          "http://me@gate:9201/write", "http:/write", "/%2e/write"})
        CHECK(at.check(http::verb::post, target).to == nullptr);
    request_header old = scene::sound(http::verb::post, "http://gate/write");
    old.version(10);
    old.erase(http::field::host);
    CHECK(at.check(old).to == at.routes.find("/write"));
}

TEST_CASE("a header with a fault is 400 before anything else, and the last of its connection") {
    scene at;
    request_header header = scene::sound(http::verb::get, "/write");
    header.erase(http::field::host);
    const auto verdict = at.check(header, 1'000'000);
    REQUIRE(verdict.answer);
    CHECK(verdict.to == at.routes.find("/write"));
    CHECK(verdict.answer->status == 400);
    CHECK(verdict.answer->rejected == reject_reason::invalid_http);
    CHECK(verdict.answer->text() == "malformed HTTP: HTTP/1.1 without Host\n");
    CHECK(verdict.answer->close);
}

TEST_CASE("a body is rejected by its announced length: over the bound 400, without room 503") {
    scene at;
    const auto large = at.check(http::verb::post, "/write", 501);
    REQUIRE(large.answer);
    CHECK(large.answer->status == 400);
    CHECK(large.answer->rejected == reject_reason::too_large);
    CHECK(large.answer->headers.count(http::field::retry_after) == 0);
    CHECK(large.answer->text() == "body larger than server.maxRequestBytes: 501 bytes, at most 500 bytes\n");

    inflight_lease other{at.room};
    REQUIRE(other.grow(600));
    CHECK_FALSE(at.check(http::verb::post, "/write", 400).answer);
    const auto crowded = at.check(http::verb::post, "/write", 401);
    REQUIRE(crowded.answer);
    CHECK(crowded.answer->status == 503);
    CHECK(crowded.answer->rejected == reject_reason::overloaded);
    CHECK(crowded.answer->headers[http::field::retry_after] == "1");
    CHECK(crowded.answer->text() ==
          "over server.maxInflightBytes: 600 of 2000 bytes are held, 600 of 1000 for bodies; try again\n");
    CHECK(at.held.value() == 600);  // nothing has been taken
}

TEST_CASE("where there is only one kind of paths, the other is told to be elsewhere") {
    scene at;
    const auto why = [&at](const route_table& routes, std::string_view target) {
        const auto verdict = check_header(
            scene::sound(http::verb::get, target), std::nullopt,
            {.routes = routes, .tenant_header = "X-Scope-OrgID", .body_bytes_max = 500, .memory = at.memory});
        REQUIRE(verdict.answer);
        CHECK(verdict.answer->status == 404);
        return std::string{verdict.answer->text()};
    };
    const route_table all{{"/write", "POST", route_kind::ingestion, never}, {"/", "GET", route_kind::admin, never}};
    CHECK(why(all, "/stats") == "no such path: /stats; remote write goes to /write; / says what there is\n");
    CHECK(why(all.of(route_kind::ingestion), "/stats") ==
          "no such path: /stats; remote write goes to /write; nothing else is at this address\n");
    CHECK(why(all.of(route_kind::admin), "/write") ==
          "no such path: /write; remote write goes to another address; / says what there is\n");
}

}  // namespace
}  // namespace seriesgate::testing::header_check_test
