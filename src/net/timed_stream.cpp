#include "net/timed_stream.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

namespace seriesgate {

bool timed_stream::has_unconfirmed() const noexcept {
    if (tls_ && tls_->has_spoken()) return false;
    int bytes = 0;
    return ::ioctl(socket_->socket().native_handle(), SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

bool timed_stream::is_quiet() {
    if (tls_) return tls_->is_quiet();
    char byte = 0;
    return ::recv(socket_->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool timed_stream::peer_has_ended() const noexcept {
    pollfd asked{.fd = socket_->socket().native_handle(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&asked, 1, 0) > 0;
}

}  // namespace seriesgate
