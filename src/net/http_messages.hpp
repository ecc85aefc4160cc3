/// Reads and writes HTTP messages over a timed_stream, with Beast's parsers and serializers.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>
#include <cstddef>
#include <string_view>

#include "net/http_fields.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

// --- Reading, within bounds that Beast lacks.

using boost::beast::flat_buffer;

/// Bound of a body's framing: a chunk's size line with its extensions, and all trailers.
inline constexpr std::size_t framing_bytes_max = 8 * 1024;
inline constexpr std::size_t header_read_bytes = 16 * 1024;
inline constexpr std::size_t body_read_bytes = 64 * 1024;
/// Beyond any use: an incomplete header or framing, and one more read.
inline constexpr std::size_t read_buffer_bytes_max = 128 * 1024;
static_assert(header_bytes_max + header_read_bytes <= read_buffer_bytes_max);
static_assert(framing_bytes_max + body_read_bytes <= read_buffer_bytes_max);

inline std::string_view text_of(const flat_buffer& unread) {
    return {static_cast<const char*>(unread.cdata().data()), unread.size()};
}

/// Reads at most bytes_max more bytes, and usually has to wait for them.
inline net::awaitable<error_code> read_more(timed_stream& stream, flat_buffer& buffer, std::size_t bytes_max) {
    const auto room = buffer.prepare(bytes_max);
    auto [error, bytes] = co_await stream.async_read_some(room, no_throw);
    buffer.commit(bytes);
    co_return error;
}

/// Parses a header, reading more until it is complete. Bytes after it stay in the buffer. Beast's own limit covers only
/// unparsed bytes, so a header could have any length.
/// @param meter a header_meter or alike; checks all bytes before they are parsed.
template <class Parser, class Meter>
net::awaitable<error_code> read_header(timed_stream& stream, flat_buffer& buffer, Parser& parser, Meter& meter) {
    parser.header_limit(2 * header_bytes_max);
    parser.body_limit(boost::none);  // the caller checks it
    std::size_t metered = 0;
    for (;;) {
        if (buffer.size() > metered) {
            error_code error = meter.take(text_of(buffer).substr(metered));
            if (error) co_return error;
            buffer.consume(parser.put(buffer.cdata(), error));
            if (error != http::error::need_more) co_return error;
            if (meter.complete()) co_return http::error::bad_line_ending;
            metered = buffer.size();
        }
        const error_code failed = co_await read_more(stream, buffer, header_read_bytes);
        if (failed) co_return failed;
    }
}

/// Feeds the buffer to the parser in pieces small enough to stop at oversized framing.
/// @return http::error::bad_chunk for too much framing, or the parser's error other than need_more.
template <class Parser>
error_code parse_body(flat_buffer& buffer, Parser& parser, bool& progress) {
    parser.eager(true);
    while (buffer.size() != 0 && !parser.is_done()) {
        const auto piece = net::buffer(buffer.cdata(), framing_bytes_max);
        error_code error;
        const std::size_t taken = parser.put(piece, error);
        buffer.consume(taken);
        progress = progress || taken != 0;
        if (error && error != http::error::need_more) return error;
        if (taken != 0) continue;
        if (piece.size() == framing_bytes_max) return http::error::bad_chunk;
        break;
    }
    return {};
}

/// Parses more of the body: the buffer's content, or at most body_read_bytes of new bytes. Call it until the parser is
/// done. The end of the connection may be the end of the body.
template <class Parser>
net::awaitable<error_code> read_body_some(timed_stream& stream, flat_buffer& buffer, Parser& parser) {
    for (bool progress = false;;) {
        error_code error = parse_body(buffer, parser, progress);
        if (error || progress) co_return error;
        buffer.commit(stream.read_now(buffer.prepare(body_read_bytes), error));  // what has come, without waiting
        if (error == net::error::would_block) error = co_await read_more(stream, buffer, body_read_bytes);
        if (error == net::error::eof) {
            parser.put_eof(error);
            co_return error;
        }
        if (error) co_return error;
    }
}

/// Writes at once as much as the socket buffer takes, usually all; waits only for the rest.
template <bool is_request, class Body>
net::awaitable<error_code> write_message(timed_stream& stream, const http::message<is_request, Body>& message) {
    http::serializer<is_request, Body> unwritten{message};
    error_code error;
    while (!error && !unwritten.is_done()) {
        std::size_t bytes = 0;
        unwritten.next(error, [&](error_code& failed, const auto& from) { bytes = stream.write_now(from, failed); });
        if (!error) unwritten.consume(bytes);  // not in the visit: that would change what is visited
    }
    if (error != net::error::would_block) co_return error;
    auto [failed, bytes] = co_await http::async_write(stream, unwritten, no_throw);
    co_return failed;
}

}  // namespace seriesgate
