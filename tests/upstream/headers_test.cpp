#include "upstream/request.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

std::vector<std::string> lines(const http::fields& headers) {
    std::vector<std::string> out;
    for (const auto& field : headers)
        out.push_back(std::string{field.name_string()} + ": " + std::string{field.value()});
    return out;
}

}  // namespace

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
    add_via(headers);
    CHECK(lines(headers) == std::vector<std::string>{"Via: 1.1 edge", "Via: " + std::string{own_via()}});
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
