#include "upstream/request.hpp"

#include <initializer_list>

#include "support/catch.hpp"
#include "upstream/loop_detection.hpp"

namespace seriesgate::testing::request_test {
namespace {

std::vector<std::string> lines(const http::fields& headers) {
    std::vector<std::string> out;
    for (const auto& field : headers)
        out.push_back(std::string{field.name_string()} + ": " + std::string{field.value()});
    return out;
}

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

TEST_CASE("end-to-end headers are copied in order, with their spelling and repetitions") {
    http::fields from;
    from.insert("X-Scope-OrgID", "team-a");
    from.insert("traceparent", "00-1-2-01");
    from.insert("x-custom", "1");
    from.insert("X-Custom", "2");
    from.insert("Authorization", "Bearer secret");
    http::fields to;
    copy_end_to_end(from, to, "X-Scope-OrgID");
    // Beast keeps repetitions of a name together, in their order.
    CHECK(lines(to) == std::vector<std::string>{"X-Scope-OrgID: team-a", "traceparent: 00-1-2-01", "x-custom: 1",
                                                "X-Custom: 2", "Authorization: Bearer secret"});
}

TEST_CASE("headers of one hop are left out") {
    http::fields from;
    for (const auto* name : {"Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE",
                             "Trailer", "Transfer-Encoding", "Upgrade", "Host", "Content-Length", "Expect"})
        from.insert(name, "x");
    from.insert("Connection", "close, X-Hop");
    from.insert("Connection", "x-other");
    from.insert("X-Hop", "1");
    from.insert("X-Other", "1");
    from.insert("X-Kept", "1");
    http::fields to;
    copy_end_to_end(from, to, "X-Scope-OrgID");
    CHECK(lines(to) == std::vector<std::string>{"X-Kept: 1"});
}

TEST_CASE("digests of a changed body are dropped, nothing else") {
    http::fields headers;
    for (const auto* name : {"Content-MD5", "digest", "Content-Digest", "Repr-Digest", "X-Amz-Content-Sha256"})
        headers.insert(name, "x");
    headers.insert("Content-Encoding", "snappy");
    drop_body_digests(headers);
    CHECK(lines(headers) == std::vector<std::string>{"Content-Encoding: snappy"});
}

TEST_CASE("what the gate goes by is never of one hop, whatever Connection says") {
    const std::vector<std::string> kept{
        "X-Team: 1",       "x-scope-orgid: 1",    "THANOS-TENANT: 1", "Authorization: 1",
        "Content-Type: 1", "Content-Encoding: 1", "Via: 1",           "X-Prometheus-Remote-Write-Version: 1"};
    http::fields from;
    for (const std::string& line : kept) from.insert(line.substr(0, line.find(':')), "1");
    from.insert("Connection", "x-TEAM,X-Scope-OrgID , thanos-tenant,authorization,Content-Type,content-encoding");
    from.insert("Connection", "via,,X-Prometheus-Remote-Write-Version,\tX-Hop\t,");
    from.insert("X-Hop", "1");
    http::fields to;
    copy_end_to_end(from, to, "X-Team");
    CHECK(lines(to) == kept);
}

TEST_CASE("names that a Connection header declares beyond the bound go on") {
    http::fields from;
    for (std::size_t i = 0; i < hop_fields_max + 2; ++i) {
        from.insert("Connection", "X-" + std::to_string(i));
        from.insert("X-" + std::to_string(i), "1");
    }
    http::fields to;
    copy_end_to_end(from, to, "X-Team");
    CHECK(lines(to).size() == 2);
}

TEST_CASE("Via keeps the hops before ours") {
    http::fields headers;
    headers.insert(http::field::via, "1.1 edge");
    const auto made = made_of_request({.headers = headers, .tenant_header = "", .query = "", .body = ""});
    CHECK(lines(made.http) == std::vector<std::string>{"Host: store.test:8428", "Via: 1.1 edge",
                                                       "Via: " + std::string{own_via()}, "Content-Length: 0"});
}

TEST_CASE("headers take what they say, and something for each") {
    http::fields some;
    CHECK(bytes_held(some) == 0);
    some.insert("a", "");
    const std::size_t least = bytes_held(some);
    CHECK(least > 50);
    some.insert("a", std::string(1000, 'x'));
    CHECK(bytes_held(some) == 2 * least + 1000);
}

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
    const upstream_request without{.headers = headers,
                                   .tenant_header = "",
                                   .keeps_authorization = false,  // it was for the gate
                                   .query = "",
                                   .body = "x"};
    CHECK(made_of_request(without).uses_gate_credentials);
}

}  // namespace
}  // namespace seriesgate::testing::request_test
