#include "net/socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstring>
#include <utility>

namespace seriesgate {
namespace {

using net::ip::tcp;

std::optional<tcp::endpoint> tcp_of(const stream_endpoint& of) {
    const int family = of.protocol().family();
    if (family != AF_INET && family != AF_INET6) return std::nullopt;
    tcp::endpoint made;
    if (of.size() > made.capacity()) return std::nullopt;
    std::memcpy(made.data(), of.data(), of.size());
    made.resize(of.size());
    return made;
}

/// @param ask getsockname or getpeername
stream_endpoint endpoint_by(int (*ask)(int, sockaddr*, socklen_t*), int descriptor) noexcept {
    stream_endpoint found;
    auto size = static_cast<socklen_t>(found.capacity());
    if (ask(descriptor, found.data(), &size) != 0 || size > found.capacity()) return {};
    found.resize(size);
    return found;
}

}  // namespace

stream_endpoint tcp_endpoint(const net::ip::address& address, std::uint16_t port) {
    return tcp::endpoint{address, port};
}

stream_endpoint unix_endpoint(const std::string& path) {
    return net::local::stream_protocol::endpoint{path};
}

std::optional<net::ip::address> ip_address_of(const stream_endpoint& of) {
    const auto known = tcp_of(of);
    if (!known) return std::nullopt;
    return known->address();
}

net::ip::address network_of(const net::ip::address& of) {
    if (of.is_v4()) return of;
    if (of.to_v6().is_v4_mapped()) return net::ip::make_address_v4(net::ip::v4_mapped, of.to_v6());
    auto bytes = of.to_v6().to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
    return net::ip::address_v6{bytes};
}

std::optional<net::ip::address> network_of(const stream_endpoint& of) {
    const auto address = ip_address_of(of);
    if (!address) return std::nullopt;
    return network_of(*address);
}

bool is_unix(const stream_endpoint& of) {
    return of.protocol().family() == AF_UNIX;
}

std::uint16_t port_of(const stream_endpoint& of) {
    const auto known = tcp_of(of);
    return known ? known->port() : std::uint16_t{0};
}

std::string endpoint_text(const stream_endpoint& of) {
    if (const auto known = tcp_of(of)) {
        const std::string port = std::to_string(known->port());
        const std::string host = known->address().to_string();
        return known->address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
    }
    if (!is_unix(of)) return "nowhere";
    const auto* const address = reinterpret_cast<const sockaddr_un*>(of.data());
    const std::size_t room = of.size() - offsetof(sockaddr_un, sun_path);
    return "unix:" + std::string{address->sun_path, ::strnlen(address->sun_path, room)};
}

stream_acceptor listen_at(net::io_context& io, const stream_endpoint& where) {
    if (auto* const network = transport_network::installed()) return stream_acceptor{io, network->listen(where)};
    stream_acceptor made{io};
    made.open(where.protocol());
    made.set_option(net::socket_base::reuse_address{true});
    made.bind(where);
    made.listen();
    return made;
}

stream_acceptor listen_at(net::io_context& io, const std::string& host, std::uint16_t port) {
    if (transport_network::installed() != nullptr)
        return listen_at(io, tcp_endpoint(net::ip::make_address(host), port));
    tcp::resolver resolver{io};
    const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive);
    return listen_at(io, found.begin()->endpoint());
}

void set_no_delay(stream_socket& of) noexcept {
    error_code ignored;
    of.set_option(tcp::no_delay{true}, ignored);
}

detached_socket::detached_socket(int descriptor) noexcept : descriptor_(descriptor) {
    int family = AF_UNSPEC;
    socklen_t size = sizeof family;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0) protocol_ = {family, 0};
}

template <class Socket>
void detached_socket::take(Socket& from) noexcept {
    error_code error;
    protocol_ = from.local_endpoint(error).protocol();
    if (error) return;
    const int descriptor = from.release(error);
    if (!error) descriptor_ = descriptor;
}

template <class Socket>
result<Socket, error_code> detached_socket::give(net::io_context& to) {
    error_code error = net::error::bad_descriptor;
    Socket attached{to};
    if (descriptor_ >= 0) attached.assign(protocol_, descriptor_, error);
    if (error) return error;
    descriptor_ = -1;
    return attached;
}

detached_socket::detached_socket(stream_socket& from) noexcept : virtual_(from.release_virtual()) {
    if (!virtual_) take(from);
}

detached_socket::detached_socket(stream_acceptor& from) noexcept : virtual_listener_(from.release_virtual()) {
    if (!virtual_listener_) take(from);
}

detached_socket::detached_socket(detached_socket&& other) noexcept
    : protocol_(other.protocol_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      virtual_(std::move(other.virtual_)),
      virtual_listener_(std::move(other.virtual_listener_)) {}

detached_socket& detached_socket::operator=(detached_socket&& other) noexcept {
    std::swap(protocol_, other.protocol_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(virtual_, other.virtual_);
    std::swap(virtual_listener_, other.virtual_listener_);
    return *this;
}

detached_socket::~detached_socket() {
    if (virtual_) virtual_->close();
    if (descriptor_ >= 0) ::close(descriptor_);
}

result<stream_socket, error_code> detached_socket::attach(net::io_context& to) {
    if (virtual_) return stream_socket{to, std::move(virtual_)};
    return give<stream_socket>(to);
}

result<stream_acceptor, error_code> detached_socket::attach_listening(net::io_context& to) {
    if (virtual_listener_) return stream_acceptor{to, std::move(virtual_listener_)};
    return give<stream_acceptor>(to);
}

stream_endpoint detached_socket::local_endpoint() const noexcept {
    if (virtual_listener_) return virtual_listener_->local_endpoint();
    return virtual_ ? virtual_->local_endpoint() : endpoint_by(::getsockname, descriptor_);
}

stream_endpoint detached_socket::remote_endpoint() const noexcept {
    return virtual_ ? virtual_->remote_endpoint() : endpoint_by(::getpeername, descriptor_);
}

}  // namespace seriesgate
