#include "upstream/headers.hpp"

#include <string>
#include <vector>

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
    copy_end_to_end(from, to);
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
    copy_end_to_end(from, to);
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

TEST_CASE("Via keeps the hops before ours") {
    http::fields headers;
    headers.insert(http::field::via, "1.1 edge");
    add_via(headers);
    CHECK(lines(headers) == std::vector<std::string>{"Via: 1.1 edge", "Via: 1.1 seriesgate"});
}
