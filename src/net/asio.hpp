/// Asio's names and completion tokens for the edges. Sockets are in net/socket.hpp, HTTP fields in net/http_fields.hpp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace seriesgate {

namespace net = boost::asio;
using boost::system::error_code;

/// Completion token: `auto [error, n] = co_await stream.async_read_some(buffer, no_throw);`
/// GCC 12 destroys temporaries of a co_await expression twice: name lambdas, aggregates and `?:` results before it.
inline constexpr auto no_throw = net::as_tuple(net::use_awaitable);

}  // namespace seriesgate
