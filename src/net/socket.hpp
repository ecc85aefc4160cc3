/// Sockets of streams, whatever their addresses are: TCP over IPv4 or IPv6, or a unix socket.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "net/asio.hpp"

namespace seriesgate {

using stream_socket = net::generic::stream_protocol::socket;
using stream_endpoint = net::generic::stream_protocol::endpoint;
using stream_acceptor = net::basic_socket_acceptor<net::generic::stream_protocol>;

[[nodiscard]] stream_endpoint tcp_endpoint(const net::ip::address& address, std::uint16_t port);
/// Throws boost::system::system_error for a path that is too long.
[[nodiscard]] stream_endpoint unix_endpoint(const std::string& path);

/// Nothing for a unix socket, and for the endpoint of a peer that has gone.
[[nodiscard]] std::optional<net::ip::address> ip_address_of(const stream_endpoint& of);

/// Who is one peer where peers have bounds: an IPv4 address, or the /64 of an IPv6 one, since whoever has one of its
/// addresses as a rule has them all. Source: RFC 6177, section 2.
[[nodiscard]] net::ip::address network_of(const net::ip::address& of);
/// Nothing where ip_address_of() is nothing.
[[nodiscard]] std::optional<net::ip::address> network_of(const stream_endpoint& of);

/// Of a unix socket, with a path or, as most that connect, without.
[[nodiscard]] bool is_unix(const stream_endpoint& of);

/// 0 where ip_address_of() is nothing.
[[nodiscard]] std::uint16_t port_of(const stream_endpoint& of);

/// "127.0.0.1:9201", "[::1]:9201", "unix:/run/x"; "nowhere" for an empty one.
[[nodiscard]] std::string to_text(const stream_endpoint& of);

/// Binds and listens; throws boost::system::system_error.
[[nodiscard]] stream_acceptor listen_at(net::io_context& io, const stream_endpoint& where);

/// The same at the first address that a name has. Waits for the resolver.
[[nodiscard]] stream_acceptor listen_at(net::io_context& io, const std::string& host, std::uint16_t port);

/// Small messages go at once. Nothing happens to a unix socket.
void set_no_delay(stream_socket& of) noexcept;

/// An open socket that is no thread's, on its way from one to another. Closed if nobody attaches it.
class detached_socket {
    net::generic::stream_protocol protocol_;
    int descriptor_ = -1;

  public:
    /// Takes the socket out of its context. Nothing may be pending on it. If that fails, it stays as it is and attach()
    /// fails. Threads: the one that it belongs to so far.
    explicit detached_socket(stream_socket& from) noexcept;
    detached_socket(const detached_socket&) = delete;
    detached_socket& operator=(const detached_socket&) = delete;
    ~detached_socket();

    /// If it fails, the socket is still open, and still ours.
    [[nodiscard]] result<stream_socket, error_code> attach(net::io_context& to);
};

}  // namespace seriesgate
