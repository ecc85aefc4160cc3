#include "core/sender_address.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing::sender_address_test {
namespace {

std::string shown(std::optional<ip_address> address) {
    return address ? address->to_string() : "none";
}

std::vector<ip_network> networks(const std::vector<std::string>& texts) {
    std::vector<ip_network> made;
    for (const std::string& each : texts) made.push_back(parse_ip_network(each).value());
    return made;
}

// --- addresses and networks

TEST_CASE("an address has one form, and IPv4 in IPv6 is IPv4") {
    for (const auto& [text, form] : std::vector<std::pair<std::string, std::string>>{{"192.0.2.1", "192.0.2.1"},
                                                                                     {"::ffff:192.0.2.1", "192.0.2.1"},
                                                                                     {"::FFFF:c000:201", "192.0.2.1"},
                                                                                     {"2001:DB8:0:0::1", "2001:db8::1"},
                                                                                     {"::", "::"},
                                                                                     {"0.0.0.0", "0.0.0.0"}}) {
        INFO(text);
        CHECK(shown(parse_ip_address(text)) == form);
    }
    for (const std::string& text :
         {""s, " 192.0.2.1"s, "192.0.2.1 "s, "192.0.2"s, "192.0.2.256"s, "192.0.2.01"s, "0xc0.0.2.1"s, "3221225985"s,
          "192.0.2.1\0"s, "192.0.2.1\0x"s, "192.0.2.1:80"s, "[::1]"s, "fe80::1%eth0"s, "1::2::3"s, "12345::"s,
          "localhost"s, std::string(100, '1')}) {
        INFO(text);
        CHECK_FALSE(parse_ip_address(text));
    }
}

TEST_CASE("a network contains the addresses with its prefix") {
    const auto in = [](const std::string& network, const std::string& address) {
        return contains(networks({network}), *parse_ip_address(address));
    };
    CHECK(in("10.0.0.0/8", "10.255.255.255"));
    CHECK(in("10.0.0.0/8", "::ffff:10.0.0.1"));
    CHECK_FALSE(in("10.0.0.0/8", "11.0.0.0"));
    CHECK(in("192.0.2.0/25", "192.0.2.127"));
    CHECK_FALSE(in("192.0.2.0/25", "192.0.2.128"));
    CHECK(in("192.0.2.1", "192.0.2.1"));
    CHECK_FALSE(in("192.0.2.1", "192.0.2.2"));
    CHECK(in("2001:db8::/33", "2001:db8:7fff::1"));
    CHECK_FALSE(in("2001:db8::/33", "2001:db8:8000::1"));
    CHECK(in("0.0.0.0/0", "203.0.113.9"));
    CHECK_FALSE(in("0.0.0.0/0", "2001:db8::1"));
    CHECK(in("::/0", "2001:db8::1"));
    CHECK_FALSE(in("::/0", "203.0.113.9"));
    CHECK(in("::ffff:10.0.0.0/104", "10.1.2.3"));
}

TEST_CASE("a network is written as it was read, and has no bits after its prefix") {
    for (const std::string text : {"10.0.0.0/8", "192.0.2.1", "0.0.0.0/0", "::/0", "2001:db8::/32", "::1", "fd00::/8"})
        CHECK(parse_ip_network(text)->to_string() == text);
    CHECK(parse_ip_network("192.0.2.1/32")->to_string() == "192.0.2.1");
    for (const std::string text : {"10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8 ", "/8",
                                   "::/129", "2001:db8::1/32", "10.0.0.0/8/8", "10/8", "10.0.0.0/255.0.0.0", ""}) {
        INFO(text);
        CHECK_FALSE(parse_ip_network(text));
    }
}

// --- the PROXY protocol. Source: proxy-protocol.txt, sections 2.1 and 2.2

/// Checks that no part of it counts, and that bytes behind it are left alone.
void check_complete(const std::string& header, const std::string& source) {
    INFO(header);
    for (std::size_t size = 0; size < header.size(); ++size)
        CHECK(parse_proxy_header(bytes_view{header}.substr(0, size)).state == proxy_header_state::incomplete);
    for (const std::string& behind : {""s, "\x16\x03\x01"s, "GET / HTTP/1.1\r\n"s, header}) {
        const std::string whole = header + behind;
        const proxy_header found = parse_proxy_header(whole);
        CHECK(found.state == proxy_header_state::complete);
        CHECK(found.size == header.size());
        CHECK(shown(found.source) == source);
    }
}

/// Checks that so many bytes of it are enough to know.
void check_malformed(const std::string& header, std::size_t enough) {
    INFO(header);
    for (std::size_t size = 0; size <= header.size(); ++size)
        CHECK(parse_proxy_header(bytes_view{header}.substr(0, size)).state ==
              (size < enough ? proxy_header_state::incomplete : proxy_header_state::malformed));
}

TEST_CASE("version 1 is a line with the sender's address") {
    check_complete("PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n", "192.0.2.7");
    check_complete("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255");
    check_complete("PROXY TCP6 2001:db8::7 2001:db8::1 0 443\r\n", "2001:db8::7");
    check_complete(
        "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
    check_complete("PROXY UNKNOWN\r\n", "none");
    const std::string longest =
        "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n";
    CHECK(longest.size() == proxy_line_bytes_max);
    check_complete(longest, "none");
}

TEST_CASE("a line that is not exactly of version 1 is malformed") {
    for (const std::string line : {"PROXY TCP4 192.0.2.7 192.0.2.1 56324\r\n",
                                   "PROXY TCP4 192.0.2.7 192.0.2.1 56324 443 1\r\n",
                                   "PROXY TCP4 192.0.2.7 192.0.2.1 56324 443 \r\n",
                                   "PROXY TCP4  192.0.2.7 192.0.2.1 56324 443\r\n",
                                   "PROXY  TCP4 192.0.2.7 192.0.2.1 56324 443\r\n",
                                   "PROXY TCP4 192.0.2.7 192.0.2.1 56324 65536\r\n",
                                   "PROXY TCP4 192.0.2.7 192.0.2.1 056 443\r\n",
                                   "PROXY TCP4 192.0.2.7 192.0.2.1 +1 443\r\n",
                                   "PROXY TCP4 192.0.2.07 192.0.2.1 1 443\r\n",
                                   "PROXY TCP4 ::1 ::1 1 443\r\n",
                                   "PROXY TCP6 192.0.2.7 192.0.2.1 1 443\r\n",
                                   "PROXY TCP4 192.0.2.7\r\n",
                                   "PROXY TCP4\r\n",
                                   "PROXY \r\n",
                                   "PROXY tcp4 192.0.2.7 192.0.2.1 1 443\r\n",
                                   "PROXY UDP4 192.0.2.7 192.0.2.1 1 443\r\n",
                                   "PROXY UNKNOWNS\r\n",
                                   "PROXY TCP4 192.0.2.7 192.0.2.1 1 443\n",
                                   "PROXY TCP4 192.0.2.7\t192.0.2.1 1 443\r\n",
                                   "PROXY \n"})
        check_malformed(line, line.size());
    check_malformed("PROXY UNKNOWN " + std::string(200, 'x'), proxy_line_bytes_max);
    check_malformed("PROXY " + std::string(65536, 'x'), proxy_line_bytes_max);
}

std::string version_2(char command, char family, const std::string& body, std::optional<std::size_t> size = {}) {
    const std::size_t bytes = size.value_or(body.size());
    return "\r\n\r\n\0\r\nQUIT\n"s + command + family + static_cast<char>(bytes >> 8) + static_cast<char>(bytes) + body;
}

const std::string v4_body = "\xc0\x00\x02\x07\xc0\x00\x02\x01\xdc\x04\x01\xbb"s;
const std::string v6_body = "\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x07" + std::string(16, '\1') + "\1\2\3\4";

TEST_CASE("version 2 has the sender's address in bytes, and what follows it is skipped") {
    check_complete(version_2('\x21', '\x11', v4_body), "192.0.2.7");
    check_complete(version_2('\x21', '\x11', v4_body + "\x03\0\4abcd"s), "192.0.2.7");
    check_complete(version_2('\x21', '\x11', v4_body + std::string(proxy_body_bytes_max - 12, 'x')), "192.0.2.7");
    check_complete(version_2('\x21', '\x21', v6_body), "2001:db8::7");
    const std::string mapped = std::string(10, '\0') + "\xff\xff\xc0\0\2\7"s + std::string(20, '\1');
    check_complete(version_2('\x21', '\x21', mapped), "192.0.2.7");
}

TEST_CASE("version 2 of the proxy itself, of datagrams and of unix sockets leaves the connection's address") {
    check_complete(version_2('\x20', '\0', ""), "none");
    check_complete(version_2('\x20', '\x11', v4_body), "none");
    check_complete(version_2('\x20', '\x77', "xyz"), "none");  // LOCAL: the family is to be ignored
    check_complete(version_2('\x21', '\0', ""), "none");
    check_complete(version_2('\x21', '\0', "xyz"), "none");
    check_complete(version_2('\x21', '\x12', v4_body), "none");
    check_complete(version_2('\x21', '\x31', std::string(216, '/')), "none");
}

TEST_CASE("what is not exactly of version 2 is malformed as soon as that is known") {
    check_malformed(version_2('\x11', '\x11', v4_body), 13);
    check_malformed(version_2('\x22', '\x11', v4_body), 13);
    check_malformed(version_2('\x31', '\x11', v4_body), 13);
    check_malformed(version_2('\x21', '\x41', v4_body), 16);
    check_malformed(version_2('\x21', '\x13', v4_body), 16);
    check_malformed(version_2('\x21', '\x11', v4_body.substr(1)), 16);
    check_malformed(version_2('\x21', '\x21', v6_body.substr(1)), 16);
    check_malformed(version_2('\x21', '\x31', std::string(215, '/')), 16);
    check_malformed(version_2('\x21', '\x11', v4_body, 65535), 16);
    check_malformed(version_2('\x20', '\0', "", proxy_body_bytes_max + 1), 16);
}

TEST_CASE("what begins otherwise has no header") {
    for (const std::string& begin : {"GET / HTTP/1.1\r\n"s, "POST"s, "PUT"s, "PROXy TCP4"s, "PROXYx"s, "\x16\x03\x01"s,
                                     "\r\nGET"s, "\r\n\r\n\r\n"s, "\0"s, std::string(65536, '\xff')}) {
        INFO(begin.substr(0, 20));
        CHECK(parse_proxy_header(begin).state == proxy_header_state::absent);
    }
}

// --- X-Forwarded-For and Forwarded

const std::vector<ip_network> proxies = networks({"10.0.0.0/8", "2001:db8:f::/48"});

template <auto Add>
std::string sender_of(const std::vector<std::string>& lines) {
    forwarded_chain chain{proxies};
    for (const std::string& each : lines) (chain.*Add)(each);
    return chain.is_empty() ? "empty" : shown(chain.sender());
}
constexpr auto by_list = sender_of<&forwarded_chain::add_list>;
constexpr auto by_forwarded = sender_of<&forwarded_chain::add_forwarded>;

TEST_CASE("the sender is the first address from the right that is not trusted") {
    CHECK(by_list({"203.0.113.9"}) == "203.0.113.9");
    CHECK(by_list({"198.51.100.1, 203.0.113.9"}) == "203.0.113.9");
    CHECK(by_list({"198.51.100.1,203.0.113.9 ,10.0.0.1,\t10.0.0.2"}) == "203.0.113.9");
    CHECK(by_list({"198.51.100.1", "203.0.113.9, 10.0.0.1", "10.0.0.2"}) == "203.0.113.9");
    CHECK(by_list({"10.0.0.1, 10.0.0.2"}) == "10.0.0.1");
    CHECK(by_list({"2001:db8::7, 2001:db8:f::1"}) == "2001:db8::7");
    CHECK(by_list({"::ffff:203.0.113.9, ::ffff:10.0.0.1"}) == "203.0.113.9");
}

TEST_CASE("what a sender writes itself counts for nothing") {
    for (const std::string forged : {"10.0.0.9", "nonsense", "\"", ",,,", "198.51.100.1, 10.0.0.1", "[::1", "a, \\"}) {
        INFO(forged);
        CHECK(by_list({forged + ", 203.0.113.9, 10.0.0.1"}) == "203.0.113.9");
        CHECK(by_list({forged, "203.0.113.9"}) == "203.0.113.9");
        CHECK(by_forwarded({forged, "for=203.0.113.9"}) == "203.0.113.9");
    }
    CHECK(by_forwarded({"for=198.51.100.1, for=203.0.113.9"}) == "203.0.113.9");
}

TEST_CASE("a list that a trusted proxy has not left readable names nobody") {
    for (const std::string line : {"unknown", "203.0.113.9 10.0.0.1", "203.0.113.9, unknown", "203.0.113.9, [10.0.0.1",
                                   "203.0.113.9, 10.0.0.1:", "203.0.113.9, 10.0.0.1:65536", "203.0.113.9, [10.0.0.1]",
                                   "203.0.113.9, unknown, 10.0.0.1", "203.0.113.9, _hidden", "203.0.113.9, [::1]x"}) {
        INFO(line);
        CHECK(by_list({line}) == "none");
    }
    CHECK(by_list({}) == "empty");
    CHECK(by_list({"", " , ,"}) == "empty");
}

TEST_CASE("an address may have a port") {
    CHECK(by_list({"203.0.113.9:4711"}) == "203.0.113.9");
    CHECK(by_list({"[2001:db8::7]:4711"}) == "2001:db8::7");
    CHECK(by_list({"[2001:db8::7]"}) == "2001:db8::7");
}

// The examples of RFC 7239, sections 4 and 6, among others.
TEST_CASE("Forwarded is read as RFC 7239 writes it") {
    CHECK(by_forwarded({"For=\"[2001:db8:cafe::17]:4711\""}) == "2001:db8:cafe::17");
    CHECK(by_forwarded({"for=192.0.2.60;proto=http;by=203.0.113.43"}) == "192.0.2.60");
    CHECK(by_forwarded({"for=192.0.2.43, for=198.51.100.17"}) == "198.51.100.17");
    CHECK(by_forwarded({"for=192.0.2.43, for=\"[2001:db8:cafe::17]\""}) == "2001:db8:cafe::17");
    CHECK(by_forwarded({"for=192.0.2.43", "for=10.0.0.1;by=10.0.0.2"}) == "192.0.2.43");
    CHECK(by_forwarded({"for=\"192.0.2.43:47011\""}) == "192.0.2.43");
    CHECK(by_forwarded({"proto=https;FOR=192.0.2.43;"}) == "192.0.2.43");
    CHECK(by_forwarded({"host=\"a, b;\\\"for=1.2.3.4\";for=192.0.2.43"}) == "192.0.2.43");
    CHECK(by_forwarded({"", ";", ", ,"}) == "empty");
}

TEST_CASE("a Forwarded without a certain address names nobody") {
    for (const std::string line :
         {"for=unknown", "for=_SEVKISEK", "for=\"_gazonk\"", "for=192.0.2.43;for=192.0.2.44", "proto=http", "for",
          "for=", "for =192.0.2.43", "for=\"192.0.2.43", "for=\"192.0.2.43\\", "for=192.0.2.43, for=10.0.0.1;x=\"",
          "for=192.0.2.43, x=\", for=10.0.0.1", "for=192.0.2.43, x=\", for=\"[2001:db8:f::1]\"", "for=\"192.0.2.43\"x",
          "for=192.0.2.43, for=\"10.0.0.\\1\"", "for='192.0.2.43'"}) {
        INFO(line);
        CHECK(by_forwarded({line}) == "none");
    }
}

}  // namespace
}  // namespace seriesgate::testing::sender_address_test
