#include "handover/notify_socket.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "log/log.hpp"

namespace seriesgate {

notify_socket::notify_socket(std::string_view address) {
    if (address.empty()) return;
    const bool is_abstract = address.front() == '@';
    if ((!is_abstract && address.front() != '/') || address.size() >= sizeof to_.sun_path) {
        failed("NOTIFY_SOCKET is no path of a unix socket");
        return;
    }
    to_.sun_family = AF_UNIX;
    std::memcpy(to_.sun_path, address.data(), address.size());
    if (is_abstract) to_.sun_path[0] = '\0';
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) {
        failed(std::strerror(errno));
        return;
    }
    to_size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size() + (is_abstract ? 0 : 1));
}

notify_socket::~notify_socket() {
    if (socket_ >= 0) ::close(socket_);
}

void notify_socket::send(const std::string& lines) noexcept {
    if (to_size_ == 0) return;
    const auto* const to = reinterpret_cast<const sockaddr*>(&to_);
    if (::sendto(socket_, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT, to, to_size_) < 0)
        failed(std::strerror(errno));
}

void notify_socket::failed(const char* why) noexcept {
    if (!has_failed_.exchange(true)) log::warn("the service manager cannot be told", {{"err", why}});
}

}  // namespace seriesgate
