#include "net/stream_socket.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <boost/asio/async_result.hpp>
#include <cerrno>

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

stream_endpoint stream_acceptor::bound_to() const {
    return virtual_ ? virtual_->local_endpoint() : local_endpoint();
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

}  // namespace seriesgate
