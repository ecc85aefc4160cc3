#include "upstream/request.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

upstream_config settings() {
    upstream_config made;
    made.store.backends = {{.target = "/api/v1/write", .authority = "store.test:8428"}};
    return made;
}

upstream_message made_of_request(const upstream_request& request) {
    const upstream_config with = settings();
    return make_message(with, with.store.backends.front(), request);
}

http::fields sender_headers() {
    http::fields made;
    made.set("Host", "gate.test");
    made.set("Accept-Encoding", "gzip");
    made.set("Digest", "sha-256=x");
    made.set("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request");
    made.set("X-Prometheus-Remote-Write-Version", "2.0.0");
    return made;
}

}  // namespace

TEST_CASE("the sender's query goes behind that of the upstream's URL") {
    const http::fields headers;
    upstream_config with = settings();
    const auto target_of = [&](std::string_view query) {
        const upstream_request request{.headers = headers, .tenant_header = "", .query = query, .body = ""};
        return std::string{make_message(with, with.store.backends.front(), request).http.target()};
    };
    CHECK(target_of("") == "/api/v1/write");
    CHECK(target_of("a=1") == "/api/v1/write?a=1");
    with.store.backends.front().target = "/api/v1/write?token=x";
    CHECK(target_of("") == "/api/v1/write?token=x");
    CHECK(target_of("a=1") == "/api/v1/write?token=x&a=1");
}

TEST_CASE("the tenant goes into the path of a URL that has a place for it, at every backend") {
    const http::fields headers;
    upstream_config with = settings();
    with.store.backends = {{.target = "/insert/{account}/prometheus/api/v1/write?a=b", .authority = "one"},
                           {.target = "/{tenant}", .authority = "two"},
                           {.target = "/write?t={tenant}", .authority = "three"}};
    const upstream_request request{
        .headers = headers, .tenant_header = "", .path_tenant = "7:1", .query = "c=d", .body = ""};
    upstream_message made = make_message(with, with.store.backends[0], request);
    CHECK(made.http.target() == "/insert/7:1/prometheus/api/v1/write?a=b&c=d");
    readdress(made, with.store.backends[1]);
    CHECK(made.http.target() == "/7:1?c=d");
    readdress(made, with.store.backends[2]);
    CHECK(made.http.target() == "/write?t={tenant}&c=d");
}

TEST_CASE("the host is the upstream's, or the sender's where that is configured") {
    const http::fields headers = sender_headers();
    const http::fields none;
    upstream_config with = settings();
    const auto host_of = [&](const http::fields& from) {
        const upstream_request request{.headers = from, .tenant_header = "", .query = "", .body = ""};
        const upstream_message made = make_message(with, with.store.backends.front(), request);
        CHECK(made.http.count(http::field::host) == 1);
        return std::string{made.http[http::field::host]};
    };
    CHECK(host_of(headers) == "store.test:8428");
    with.host_header = upstream_host::sender;
    CHECK(host_of(headers) == "gate.test");
    CHECK(host_of(none) == "store.test:8428");
}

TEST_CASE("what a body is can be said in other words than the sender's") {
    const http::fields headers = sender_headers();
    const upstream_message made = made_of_request({.headers = headers,
                                                   .tenant_header = "",
                                                   .query = "",
                                                   .body = "",
                                                   .content_type = "application/x-protobuf",
                                                   .content_encoding = "zstd"});
    CHECK(made.http[http::field::content_type] == "application/x-protobuf");
    CHECK(made.http[http::field::content_encoding] == "zstd");
    CHECK(made.http.count(http::field::content_encoding) == 1);
    CHECK(made.http["Digest"] == "sha-256=x");
}

TEST_CASE("what is said about a body is true of the body that is sent") {
    const http::fields headers = sender_headers();
    const auto made_of = [&](bool changed, bool translated) {
        const upstream_request request{.headers = headers,
                                       .tenant_header = "",
                                       .query = "",
                                       .body = "12345",
                                       .body_changed = changed,
                                       .translated = translated};
        return made_of_request(request).http;
    };
    SECTION("the sender's own") {
        const auto made = made_of(false, false);
        CHECK(made["Digest"] == "sha-256=x");
        CHECK(made["Accept-Encoding"] == "gzip");
        CHECK(made["X-Prometheus-Remote-Write-Version"] == "2.0.0");
        CHECK(made["Content-Length"] == "5");
    }
    SECTION("changed") {
        const auto made = made_of(true, false);
        CHECK(made.count("Digest") == 0);
        CHECK(made.count("Accept-Encoding") == 0);
        CHECK(made["X-Prometheus-Remote-Write-Version"] == "2.0.0");
    }
    SECTION("translated") {
        const auto made = made_of(true, true);
        CHECK(made["Content-Type"] == "application/x-protobuf");
        CHECK(made["X-Prometheus-Remote-Write-Version"] == "0.1.0");
        CHECK(made.count("Digest") == 0);
    }
}

TEST_CASE("a message shares the body's bytes and keeps them") {
    const http::fields headers;
    auto body = std::make_shared<const std::string>("some body");
    const upstream_request request{
        .headers = headers, .tenant_header = "", .query = "", .body = *body, .body_owner = body};
    const upstream_message one = made_of_request(request);
    const upstream_message another = made_of_request(request);
    CHECK(static_cast<const void*>(one.http.body().data()) == body->data());
    CHECK(static_cast<const void*>(another.http.body().data()) == body->data());
    CHECK(body.use_count() == 4);  // with the request's
}

TEST_CASE("what shows the sender to the first store is not for its replicas") {
    http::fields headers = sender_headers();
    headers.insert(http::field::authorization, "Basic c2VuZGVy");
    headers.insert(http::field::cookie, "session=1");
    headers.insert(http::field::cookie, "another=2");
    for (const bool for_replica : {false, true}) {
        const upstream_request request{
            .headers = headers, .tenant_header = "", .for_replica = for_replica, .query = "", .body = "x"};
        const upstream_message made = made_of_request(request);
        CHECK(made.http.count(http::field::authorization) == (for_replica ? 0 : 1));
        CHECK(made.http.count(http::field::cookie) == (for_replica ? 0 : 2));
        CHECK(made.http["Digest"] == "sha-256=x");
        CHECK(made.uses_gate_credentials == for_replica);
    }
}
