/// Sockets of streams, whatever their addresses are: TCP over IPv4 or IPv6, or a unix socket.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "net/asio.hpp"
#include "net/stream_socket.hpp"

namespace seriesgate {

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
[[nodiscard]] std::string endpoint_text(const stream_endpoint& of);

/// Binds and listens; throws boost::system::system_error.
[[nodiscard]] stream_acceptor listen_at(net::io_context& io, const stream_endpoint& where);

/// The same at the first address that a name has. Waits for the resolver.
[[nodiscard]] stream_acceptor listen_at(net::io_context& io, const std::string& host, std::uint16_t port);

/// Small messages go at once. Nothing happens to a unix socket.
void set_no_delay(stream_socket& of) noexcept;

/// An open socket that is no thread's, on its way from one to another, or between processes. Closed if nobody attaches
/// it.
class detached_socket {
    net::generic::stream_protocol protocol_{AF_UNSPEC, 0};
    int descriptor_ = -1;
    std::shared_ptr<transport> virtual_{};                    // a test's, in place of a descriptor
    std::shared_ptr<transport_listener> virtual_listener_{};  // the same of one that listens

  public:
    detached_socket() = default;
    /// Of a descriptor, which is its own from now on.
    explicit detached_socket(int descriptor) noexcept;
    detached_socket(detached_socket&& other) noexcept;
    detached_socket& operator=(detached_socket&& other) noexcept;
    /// Takes the socket out of its context. Nothing may be pending on it. If that fails, it stays as it is and attach()
    /// fails. Threads: the one that it belongs to so far.
    explicit detached_socket(stream_socket& from) noexcept;
    /// The same of one that listens.
    explicit detached_socket(stream_acceptor& from) noexcept;
    ~detached_socket();

    /// If it fails, the socket is still open, and still ours.
    [[nodiscard]] result<stream_socket, error_code> attach(net::io_context& to);
    /// The same for one that listens.
    [[nodiscard]] result<stream_acceptor, error_code> attach_listening(net::io_context& to);

    [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0 || virtual_ || virtual_listener_; }
    /// -1 for none. It stays ours.
    [[nodiscard]] int native_handle() const noexcept { return descriptor_; }
    /// Where it is bound; nowhere if the system does not say.
    [[nodiscard]] stream_endpoint local_endpoint() const noexcept;
    /// Who is at its other end; nowhere if nobody is.
    [[nodiscard]] stream_endpoint remote_endpoint() const noexcept;

  private:
    template <class Socket>
    void take(Socket& from) noexcept;
    template <class Socket>
    result<Socket, error_code> give(net::io_context& to);
};

}  // namespace seriesgate
