#include "net/transfer_coding.hpp"

#include <string>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

std::string_view fault_with(unsigned version, std::initializer_list<const char*> codings) {
    http::fields headers;
    for (const auto* coding : codings) headers.insert(http::field::transfer_encoding, coding);
    return coding_fault(headers, version);
}

bool is_taken(std::string_view extension) {
    error_code error;
    check_chunk_extension(5, boost::beast::string_view{extension.data(), extension.size()}, error);
    CHECK((!error || error == http::error::bad_chunk_extension));
    return !error;
}

}  // namespace

TEST_CASE("chunked, and nothing else, is a coding that ends") {
    CHECK(fault_with(11, {}).empty());
    CHECK(fault_with(10, {}).empty());
    CHECK(fault_with(11, {"chunked"}).empty());
    CHECK(fault_with(11, {"CHUNKED"}).empty());
    for (const auto* other : {"", "gzip", "gzip, chunked", "chunked, gzip", "xchunked", "chunked;q=1"})
        CHECK(fault_with(11, {other}) == "Transfer-Encoding other than chunked");
    CHECK(fault_with(11, {"gzip", "chunked"}) == "Transfer-Encoding other than chunked");
}

TEST_CASE("HTTP/1.0 has no chunks") {
    CHECK(fault_with(10, {"chunked"}) == "Transfer-Encoding with HTTP/1.0");
}

TEST_CASE("an extension of a chunk has no byte that ends a line") {
    CHECK(is_taken(""));
    CHECK(is_taken(";a=\"b\tc\x80\xff\";d"));
    using namespace std::string_view_literals;
    for (const auto control : {"\n"sv, "\r"sv, "\0"sv, "\x0b"sv, "\x1f"sv, "\x7f"sv})
        CHECK_FALSE(is_taken(std::string{";a=\""}.append(control).append("\"")));
}
