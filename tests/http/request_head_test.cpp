#include "http/request_head.hpp"

#include <string>
#include "http/route_table.hpp"
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

TEST_CASE("a trusted proxy names the sender in one header, or the same in both") {
    const std::vector<ip_network> trusted{*parse_ip_network("10.0.0.0/8")};
    const auto sender = [&](std::initializer_list<std::pair<const char*, const char*>> lines) {
        request_header header;
        for (const auto& [name, value] : lines) header.insert(name, value);
        return forwarded_sender(header, trusted);
    };
    CHECK(sender({}).empty());
    CHECK(sender({{"X-Forwarded-For", "198.51.100.1"}, {"x-forwarded-for", "203.0.113.9, 10.0.0.1"}}) == "203.0.113.9");
    CHECK(sender({{"Forwarded", "for=198.51.100.1"}, {"forwarded", "for=\"[2001:db8::7]:1\""}}) == "2001:db8::7");
    CHECK(sender({{"X-Forwarded-For", "203.0.113.9:1"}, {"Forwarded", "for=\"203.0.113.9:2\""}}) == "203.0.113.9");
    CHECK(sender({{"X-Forwarded-For", "203.0.113.9"}, {"Forwarded", "for=198.51.100.1"}}).empty());
    CHECK(sender({{"X-Forwarded-For", "203.0.113.9"}, {"Forwarded", "for=unknown"}}).empty());
    CHECK(sender({{"X-Forwarded-For", "unknown"}}).empty());
    CHECK(sender({{"X-Real-IP", "203.0.113.9"}, {"X-Forwarded-For", ""}}).empty());
}
