#include "net/http_fields.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

/// Bytes of the header that a meter finds in `text` when it comes in pieces of `size`.
std::size_t header_bytes(std::string_view text, std::size_t size) {
    header_meter meter;
    for (; !text.empty() && !meter.complete(); text.remove_prefix(std::min(size, text.size())))
        REQUIRE_FALSE(meter.take(text.substr(0, size)));
    return meter.complete() ? meter.bytes() : 0;
}

}  // namespace

TEST_CASE("a header ends with an empty line, in whatever pieces it comes") {
    const std::size_t size = GENERATE(1u, 2u, 3u, 5u, 100u);
    CHECK(header_bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody", size) == 27);
    CHECK(header_bytes("GET / HTTP/1.1\nHost: a\n\nbody", size) == 24);
    CHECK(header_bytes("GET / HTTP/1.1\r\nHost: a\r\n", size) == 0);
    CHECK(header_bytes("GET / HTTP/1.1\r\nHost: a\r\n\r", size) == 0);
    CHECK(header_bytes("GET / HTTP/1.1\r\n\r\r\n", size) == 0);
    CHECK(header_bytes("GET / HTTP/1.1\r\na\r\n", size) == 0);
}

TEST_CASE("a line does not go on in the next") {
    const std::size_t size = GENERATE(1u, 2u, 3u, 100u);
    const auto* const fold = GENERATE(" ", "\t", " b\r\n", "\r\n");
    const std::string text = std::string{"GET / HTTP/1.1\r\na: b\r\n"} + fold + "\r\n\r\n";
    header_meter meter;
    boost::system::error_code error;
    for (std::string_view rest = text; !rest.empty() && !error; rest.remove_prefix(std::min(size, rest.size())))
        error = meter.take(rest.substr(0, size));
    CHECK((error == http::error::bad_obs_fold) == (*fold != '\r'));
}

TEST_CASE("lines are bounded, however short") {
    header_meter meter;
    std::string text = "GET / HTTP/1.1\r\n";
    for (std::size_t lines = 1; lines < header_lines_max; ++lines) text += "a:\r\n";
    CHECK_FALSE(meter.take(text));
    CHECK(meter.take("a:\r\n") == http::error::header_limit);
}

TEST_CASE("bytes are bounded, however long a line") {
    header_meter meter;
    CHECK_FALSE(meter.take(std::string(header_bytes_max, 'a')));
    CHECK(meter.take("a") == http::error::header_limit);
}

TEST_CASE("what comes behind a header does not count") {
    header_meter meter;
    CHECK_FALSE(meter.take("GET / HTTP/1.1\r\n\r\n" + std::string(2 * header_bytes_max, '\n')));
    CHECK(meter.complete());
    CHECK(meter.bytes() == 18);
}

TEST_CASE("white space of HTTP is cut off at both ends") {
    CHECK(trimmed("") == "");
    CHECK(trimmed(" \t ") == "");
    CHECK(trimmed("\t a b ") == "a b");
    CHECK(trimmed("\na\r") == "\na\r");
}

TEST_CASE("a list is read item by item, empty ones left out") {
    std::vector<std::string> items;
    for_each_item(" a,,b c ,\t, d", [&](std::string_view item) {
        items.emplace_back(item);
        return true;
    });
    CHECK(items == std::vector<std::string>{"a", "b c", "d"});
    std::size_t visited = 0;
    for_each_item("a,b", [&](std::string_view) { return ++visited == 0; });
    CHECK(visited == 1);
}

TEST_CASE("names that differ in case are one to the order") {
    CHECK_FALSE(name_before("X-Hop", "x-hop"));
    CHECK_FALSE(name_before("x-hop", "X-Hop"));
    CHECK(name_before("A", "b"));
    CHECK(name_before("a", "B"));
}
