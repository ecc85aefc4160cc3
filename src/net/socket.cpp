#include "net/socket.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/async_result.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>
#include <cstring>

namespace seriesgate {

void socket_handle::shut_down() const noexcept {
    if (virtual_end != nullptr) return virtual_end->shutdown_both();
    ::shutdown(descriptor, SHUT_RDWR);
}

void stream_socket::cancel_pending() noexcept {
    error_code ignored;
    if (virtual_) return virtual_->cancel();
    cancel(ignored);
}

void stream_socket::close_quietly() noexcept {
    error_code ignored;
    if (virtual_) return virtual_->close();
    close(ignored);
}

void stream_socket::shutdown_sending() noexcept {
    error_code ignored;
    if (virtual_) return virtual_->shutdown_send();
    shutdown(shutdown_send, ignored);
}

stream_endpoint stream_socket::peer() const noexcept {
    error_code ignored;
    return virtual_ ? virtual_->remote_endpoint() : remote_endpoint(ignored);
}

bool stream_socket::has_unconfirmed() const noexcept {
    if (virtual_) return virtual_->has_unconfirmed();
    int bytes = 0;
    return ::ioctl(const_cast<stream_socket*>(this)->native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

bool stream_socket::is_quiet() noexcept {
    if (virtual_) return virtual_->is_quiet();
    char byte = 0;
    return ::recv(native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool stream_socket::peer_has_ended() const noexcept {
    if (virtual_) return virtual_->peer_has_ended();
    pollfd asked{.fd = const_cast<stream_socket*>(this)->native_handle(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&asked, 1, 0) > 0;
}

void stream_acceptor::cancel_pending() noexcept {
    error_code ignored;
    if (virtual_) return virtual_->cancel();
    cancel(ignored);
}

void stream_acceptor::close_quietly() noexcept {
    error_code ignored;
    if (virtual_) return virtual_->close();
    close(ignored);
}

net::awaitable<stream_acceptor::arrival> stream_acceptor::next(net::io_context& io) {
    if (!virtual_) {
        stream_endpoint peer;
        auto [error, socket] = co_await async_accept(peer, no_throw);
        co_return arrival{error, stream_socket{std::move(socket)}, peer};
    }
    arrival came{{}, stream_socket{io, nullptr}, {}};
    const auto start = [listens = virtual_.get(), where = get_executor(), &came, &io](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        listens->accept(where, [kept, &came, &io](error_code error, std::shared_ptr<transport> end,
                                                  const transport::endpoint& peer) {
            came = arrival{error, stream_socket{io, std::move(end)}, peer};
            std::move (*kept)();
        });
    };
    co_await net::async_initiate<const net::use_awaitable_t<>, void()>(start, net::use_awaitable);
    co_return std::move(came);
}

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

stream_endpoint own_endpoint(int descriptor) noexcept {
    stream_endpoint found;
    auto size = static_cast<socklen_t>(found.capacity());
    if (::getsockname(descriptor, found.data(), &size) != 0 || size > found.capacity()) return {};
    found.resize(size);
    return found;
}

/// Allows owner and group to read and write.
constexpr mode_t mask_of_sockets = S_IXUSR | S_IXGRP | S_IRWXO;

/// Whether the socket's process has ended. A connect to a file that is no socket is refused, too.
bool is_left_over(net::io_context& io, const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
    stream_socket tried{io};
    error_code error;
    tried.open(unix_endpoint(path).protocol());
    tried.non_blocking(true);  // a full queue also proves a listener
    tried.connect(unix_endpoint(path), error);
    return error == net::error::connection_refused;
}

/// Asio drops a handler without a call if it has no memory for the addresses. The caller must get an answer then, too.
struct lookup_answer {
    name_resolver::answer take{};
    std::weak_ptr<void> awaited_by{};  // the resolver, from the lookup's beginning to the answer

    void give(error_code error, std::vector<stream_endpoint> found) {
        awaited_by.reset();
        take(error, std::move(found));
    }
    ~lookup_answer() {
        if (awaited_by.expired()) return;
        try {
            take(net::error::no_memory, {});
        } catch (...) {  // the caller has been told
        }
    }
};

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

ip_address core_address(const net::ip::address& of) {
    return {of.is_v4() ? net::ip::make_address_v6(net::ip::v4_mapped, of.to_v4()).to_bytes() : of.to_v6().to_bytes()};
}

net::ip::address asio_address(const ip_address& of) {
    const net::ip::address_v6 made{of.bytes};
    if (!of.is_v4()) return made;
    return net::ip::make_address_v4(net::ip::v4_mapped, made);
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
    const int released = from.release(error);
    if (!error) descriptor_ = descriptor{released};
}

template <class Socket>
result<Socket, error_code> detached_socket::give(net::io_context& to) {
    error_code error = net::error::bad_descriptor;
    Socket attached{to};
    if (descriptor_.open()) attached.assign(protocol_, descriptor_.get(), error);
    if (error) return error;
    descriptor_.release();
    return attached;
}

detached_socket::detached_socket(stream_socket& from) noexcept : virtual_(from.release_virtual()) {
    if (!virtual_) take(from);
}

detached_socket::detached_socket(stream_acceptor& from) noexcept : virtual_listener_(from.release_virtual()) {
    if (!virtual_listener_) take(from);
}

detached_socket& detached_socket::operator=(detached_socket&& other) noexcept {
    std::swap(protocol_, other.protocol_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(virtual_, other.virtual_);
    std::swap(virtual_listener_, other.virtual_listener_);
    return *this;
}

detached_socket::~detached_socket() {
    if (virtual_) virtual_->close();
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
    return virtual_ ? virtual_->local_endpoint() : own_endpoint(descriptor_.get());
}

struct name_resolver::state {
    tcp::resolver resolver;
};

name_resolver::name_resolver(net::io_context& io) : state_(std::make_shared<state>(state{tcp::resolver{io}})) {}
name_resolver::~name_resolver() = default;

void name_resolver::look_up(const std::string& host, std::uint16_t port, answer take) {
    if (auto* const network = transport_network::installed())
        return network->look_up(host, port, state_->resolver.get_executor(), std::move(take));
    const auto asked = std::make_shared<lookup_answer>();
    asked->take = std::move(take);
    state_->resolver.async_resolve(host, std::to_string(port),
                                   [asked](error_code error, const tcp::resolver::results_type& found) {
                                       std::vector<stream_endpoint> endpoints;
                                       for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
                                       asked->give(error, std::move(endpoints));
                                   });
    asked->awaited_by = state_;
}

socket_file::socket_file(std::string path) : path_(std::move(path)) {
    struct stat found {};
    if (::lstat(path_.c_str(), &found) != 0) path_.clear();
    device_ = found.st_dev;
    number_ = found.st_ino;
}

socket_file::socket_file(socket_file&& other) noexcept
    : path_(std::exchange(other.path_, {})), device_(other.device_), number_(other.number_) {}

socket_file& socket_file::operator=(socket_file&& other) noexcept {
    if (this == &other) return *this;
    remove();
    path_ = std::exchange(other.path_, {});
    device_ = other.device_;
    number_ = other.number_;
    return *this;
}

void socket_file::remove() noexcept {
    struct stat found {};
    const bool is_there = !path_.empty() && ::lstat(path_.c_str(), &found) == 0;
    if (is_there && found.st_dev == device_ && found.st_ino == number_) ::unlink(path_.c_str());
    path_.clear();
}

listening_socket listen_at_path(net::io_context& io, const std::string& path) {
    const stream_endpoint where = unix_endpoint(path);
    if (is_left_over(io, path)) ::unlink(path.c_str());
    // The usual mask denies writing to the group, and so connecting. One that also denies reading means to exclude the
    // group, and keeps doing so.
    const mode_mask mask{mask_of_sockets};
    if ((mask.before() & S_IRGRP) != 0) ::umask(mask_of_sockets | S_IRWXG);
    stream_acceptor made = listen_at(io, where);
    return {.file = socket_file{path}, .socket = detached_socket{made}};
}

}  // namespace seriesgate
