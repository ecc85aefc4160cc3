/// Writes HTTP messages with Beast's serializers.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/system_error.hpp>
#include <cstddef>

#include "net/http_fields.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

/// A stream's way to write without waiting. Models SyncWriteStream.
class written_now {
    timed_stream& stream_;

  public:
    explicit written_now(timed_stream& to) noexcept : stream_(to) {}

    template <class Buffers>
    std::size_t write_some(const Buffers& from, error_code& error) {
        return stream_.write_now(from, error);
    }
    template <class Buffers>
    std::size_t write_some(const Buffers& from) {
        error_code error;
        const std::size_t bytes = write_some(from, error);
        if (error) throw boost::system::system_error(error);
        return bytes;
    }
};

/// Most messages have room between us and the peer: only what has not waits.
template <bool is_request, class Body>
net::awaitable<error_code> write_message(timed_stream& stream, const http::message<is_request, Body>& message) {
    http::serializer<is_request, Body> unwritten{message};
    error_code error;
    written_now now{stream};
    http::write(now, unwritten, error);
    if (error != net::error::would_block) co_return error;
    auto [failed, bytes] = co_await http::async_write(stream, unwritten, no_throw);
    static_cast<void>(bytes);
    co_return failed;
}

}  // namespace seriesgate
