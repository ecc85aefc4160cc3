/// The names of Asio and Beast that the edges use.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/system/error_code.hpp>

namespace seriesgate {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = net::ip::tcp;

/// Completion token: `auto [error, n] = co_await stream.async_read_some(buffer, no_throw);`
/// GCC 12 destroys temporaries of a co_await expression twice: name lambdas, aggregates and `?:` results before it.
inline constexpr auto no_throw = net::as_tuple(net::use_awaitable);

}  // namespace seriesgate
