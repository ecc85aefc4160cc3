#include "net/http_messages.hpp"

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/span_body.hpp>

#include "net/http_fields.hpp"
#include "support/catch.hpp"
#include "support/loopback.hpp"
#include "support/outcome.hpp"

namespace seriesgate::testing::message_writing_test {
namespace {

using text_request = http::request<http::span_body<const char>>;

text_request post(const std::string& body) {
    text_request made{http::verb::post, "/api/v1/write", 11};
    made.body() = {body.data(), body.size()};
    made.content_length(body.size());
    return made;
}

std::string as_sent(const std::string& body) {
    return "POST /api/v1/write HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct scene {
    net::io_context io{1};
    loopback_pair pair = connect_loopback(io);
    timed_stream stream{std::move(pair.near)};
    stream_socket& peer = pair.far;

    /// @return its error once it has ended; nothing while it waits.
    std::optional<error_code> ended;
    void write(const text_request& message) {
        ended.reset();
        net::co_spawn(
            io, [this, &message]() -> net::awaitable<void> { ended = co_await write_message(stream, message); },
            net::detached);
        io.restart();
        io.poll();
    }
    std::string read(std::size_t bytes) {
        std::string room(bytes, '\0');
        (void)outcome_of(io, [&](auto handler) { net::async_read(peer, net::buffer(room), handler); });
        io.poll();
        return room;
    }
};

TEST_CASE("a message that there is room for is written before anything else runs") {
    scene with;
    with.stream.expires_after(10s);
    const std::string body(30'000, 'b');
    with.write(post(body));
    CHECK(with.ended == error_code{});
    CHECK((with.read(as_sent(body).size()) == as_sent(body)));
}

TEST_CASE("of a message that there is no room for the rest waits, and nothing of it is lost or said twice") {
    scene with;
    with.stream.expires_after(5s);
    std::string body(32 << 20, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 2654435761U >> 13);
    const text_request message = post(body);
    with.write(message);
    CHECK_FALSE(with.ended.has_value());
    CHECK((with.read(as_sent(body).size()) == as_sent(body)));
    CHECK(with.ended == error_code{});
}

TEST_CASE("a message is not begun when its time is over, and ends when it passes") {
    scene with;
    const std::string body(64 << 20, 'b');
    const text_request message = post(body);
    with.stream.expires_at(timed_stream::clock::now());
    with.write(message);
    CHECK(with.ended == error_code{boost::beast::error::timeout});
    with.stream.expires_after(20ms);
    with.write(message);
    with.io.run_for(1s);
    CHECK(with.ended == error_code{boost::beast::error::timeout});
}

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

TEST_CASE("chunked, and nothing else, is a coding that ends, and HTTP/1.0 has none") {
    CHECK(fault_with(11, {}).empty());
    CHECK(fault_with(10, {}).empty());
    CHECK(fault_with(11, {"chunked"}).empty());
    CHECK(fault_with(11, {"CHUNKED"}).empty());
    for (const auto* other : {"", "gzip", "gzip, chunked", "chunked, gzip", "xchunked", "chunked;q=1"})
        CHECK(fault_with(11, {other}) == "Transfer-Encoding other than chunked");
    CHECK(fault_with(11, {"gzip", "chunked"}) == "Transfer-Encoding other than chunked");
    CHECK(fault_with(10, {"chunked"}) == "Transfer-Encoding with HTTP/1.0");
}

TEST_CASE("an extension of a chunk has no byte that ends a line") {
    CHECK(is_taken(""));
    CHECK(is_taken(";a=\"b\tc\x80\xff\";d"));
    for (const auto control : {"\n"sv, "\r"sv, "\0"sv, "\x0b"sv, "\x1f"sv, "\x7f"sv})
        CHECK_FALSE(is_taken(std::string{";a=\""}.append(control).append("\"")));
}

}  // namespace
}  // namespace seriesgate::testing::message_writing_test
