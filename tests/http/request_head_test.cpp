#include "http/request_head.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

request_header header_with(unsigned version, std::initializer_list<std::pair<http::field, const char*>> fields) {
    request_header header;
    header.version(version);
    for (const auto& [name, value] : fields) header.insert(name, value);
    return header;
}

std::string_view fault_in(const request_header& header) {
    return fault_of(header, "X-Scope-OrgID");
}

}  // namespace

TEST_CASE("methods are told by case, and whole") {
    CHECK(is_allowed("GET", "GET, HEAD"));
    CHECK(is_allowed("HEAD", "GET, HEAD"));
    CHECK(is_allowed("POST", "POST"));
    for (const auto* method : {"get", "Get", "HEA", "GET,", "GET, HEAD", "POST", "", " GET"})
        CHECK_FALSE(is_allowed(method, "GET, HEAD"));
}

TEST_CASE("HTTP/1.1 names one host") {
    CHECK(fault_in(header_with(11, {{http::field::host, "gate:9201"}})).empty());
    CHECK(fault_in(header_with(11, {{http::field::host, "[::1]:9201"}})).empty());
    CHECK(fault_in(header_with(11, {{http::field::host, ""}})).empty());
    CHECK(fault_in(header_with(10, {})).empty());
    CHECK(fault_in(header_with(11, {})) == "HTTP/1.1 without Host");
    CHECK(fault_in(header_with(11, {{http::field::host, "a"}, {http::field::host, "a"}})) == "more than one Host");
    CHECK(fault_in(header_with(10, {{http::field::host, "a"}, {http::field::host, "b"}})) == "more than one Host");
    for (const auto* host : {"a, b", "a b", "a/b", "user@a", "a\"b", "a\x80"})
        CHECK(fault_in(header_with(11, {{http::field::host, host}})) == "Host is no host");
}

TEST_CASE("a body comes in chunks or with its length") {
    const auto coded = [](const char* coding) {
        return fault_in(header_with(11, {{http::field::host, "a"}, {http::field::transfer_encoding, coding}}));
    };
    CHECK(coded("chunked").empty());
    CHECK(coded("Chunked").empty());
    for (const auto* coding : {"gzip", "gzip, chunked", "identity", "chunked, chunked", ""})
        CHECK(coded(coding) == "Transfer-Encoding other than chunked");
    CHECK(fault_in(header_with(10, {{http::field::transfer_encoding, "chunked"}})) ==
          "Transfer-Encoding with HTTP/1.0");
}

TEST_CASE("a sender may ask before it sends") {
    CHECK(expects_continue(header_with(11, {{http::field::expect, "100-Continue"}})));
    CHECK_FALSE(expects_continue(header_with(11, {{http::field::expect, "200-ok"}})));
    CHECK_FALSE(expects_continue(header_with(10, {{http::field::expect, "100-continue"}})));
    CHECK_FALSE(expects_continue(header_with(11, {})));
}

TEST_CASE("a request has one tenant") {
    request_header header = header_with(11, {{http::field::host, "a"}});
    header.insert("X-Scope-OrgID", "team-a");
    CHECK(fault_in(header).empty());
    header.insert("x-scope-orgid", "team-a");
    CHECK(fault_in(header).empty());
    header.insert("X-Scope-OrgID", "team-b");
    CHECK(fault_in(header) == "two tenant headers that differ");
    CHECK(fault_of(header, "X-Tenant").empty());
}
