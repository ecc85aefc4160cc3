#include "process/takeover_protocol.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "net/descriptor.hpp"

namespace seriesgate {
namespace {

constexpr int kind = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr int waiting_max = 16;

error_code last_error() noexcept {
    return {errno, boost::system::system_category()};
}

/// The kernel's credentials of the peer, from the time of connecting.
std::optional<ucred> peer_of(int socket) noexcept {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
    return peer;
}

/// A unix address for a path of any length: uses the directory's descriptor if the path is too long.
class address_of {
    descriptor directory_;
    sockaddr_un address_{};

  public:
    explicit address_of(const std::string& path) {
        std::string name = path;
        if (name.size() >= sizeof address_.sun_path) {
            const std::filesystem::path whole{path};
            directory_ = descriptor{::open(whole.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
            if (!directory_.open()) throw boost::system::system_error{last_error()};
            name = fmt::format("/proc/self/fd/{}/{}", directory_.get(), whole.filename().string());
        }
        if (name.size() >= sizeof address_.sun_path)
            throw boost::system::system_error{error_code{ENAMETOOLONG, boost::system::system_category()}};
        address_.sun_family = AF_UNIX;
        std::memcpy(address_.sun_path, name.c_str(), name.size() + 1);
    }

    [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
    static constexpr socklen_t size() noexcept { return sizeof(sockaddr_un); }
};

detached_socket new_socket() {
    detached_socket made{::socket(AF_UNIX, kind, 0)};
    if (!made.open()) throw boost::system::system_error{last_error()};
    return made;
}

/// A socket file without a listener.
bool is_left_over(const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
    const auto tried = message_socket::connect_to(path);
    return !tried && tried.error() == net::error::connection_refused;
}

/// Buffer for one message's descriptors, aligned for cmsghdr.
struct control_room {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * message_socket::sockets_max)> bytes{};
};

std::vector<detached_socket> sockets_in(msghdr& got) {
    std::vector<detached_socket> found;
    for (cmsghdr* part = CMSG_FIRSTHDR(&got); part != nullptr; part = CMSG_NXTHDR(&got, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
            found.emplace_back(descriptor);
        }
    }
    return found;
}

}  // namespace

std::string foreign_owner(const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || found.st_uid == ::geteuid()) return "";
    return fmt::format("; what is there belongs to the user {}", found.st_uid);
}

result<message_socket, error_code> message_socket::connect_to(const std::string& path) try {
    const address_of there{path};
    detached_socket made = new_socket();
    if (::connect(made.native_handle(), there.data(), there.size()) != 0) return last_error();
    return message_socket{std::move(made)};
} catch (const boost::system::system_error& error) {
    return error.code();
}

uid_t message_socket::peer_user() const noexcept {
    const auto peer = peer_of(socket_.native_handle());
    return peer ? peer->uid : static_cast<uid_t>(-1);
}

bool message_socket::peer_has_ended(std::chrono::milliseconds patience) const noexcept {
    const auto peer = peer_of(socket_.native_handle());
    if (!peer || peer->pid <= 0) return false;  // 0: in an invisible PID namespace
    const descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, peer->pid, 0))};  // glibc 2.36: in C only
    if (!process.open()) return errno == ESRCH;
    pollfd asked{.fd = process.get(), .events = POLLIN, .revents = 0};
    const auto until = monotonic_clock::now() + patience;
    int found = -1;
    do {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - monotonic_clock::now());
        found = ::poll(&asked, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    } while (found < 0 && errno == EINTR);
    return found > 0;
}

error_code message_socket::send(std::string_view text, std::span<const int> descriptors) noexcept {
    assert(descriptors.size() <= sockets_max && !text.empty() && text.size() <= text_bytes_max);
    iovec piece{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
    control_room room;
    msghdr sent{};
    sent.msg_iov = &piece;
    sent.msg_iovlen = 1;
    if (!descriptors.empty()) {
        sent.msg_control = room.bytes.data();
        sent.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* const part = CMSG_FIRSTHDR(&sent);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    }
    if (::sendmsg(socket_.native_handle(), &sent, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return last_error();
    return {};
}

result<message, error_code> message_socket::receive() {
    std::array<char, text_bytes_max> text;
    iovec piece{.iov_base = text.data(), .iov_len = text.size()};
    control_room room;
    msghdr got{};
    got.msg_iov = &piece;
    got.msg_iovlen = 1;
    got.msg_control = room.bytes.data();
    got.msg_controllen = room.bytes.size();
    const ssize_t size = ::recvmsg(socket_.native_handle(), &got, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0) return errno == EAGAIN ? error_code{net::error::would_block} : last_error();
    message made{.text = {}, .sockets = sockets_in(got)};
    if (size == 0) return error_code{net::error::eof};
    if ((got.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return error_code{net::error::message_size};
    made.text.assign(text.data(), static_cast<std::size_t>(size));
    return made;
}

result<message, error_code> message_socket::receive_within(std::chrono::steady_clock::duration limit) {
    const auto end = monotonic_clock::now() + limit;
    for (;;) {
        auto got = receive();
        if (got || got.error() != net::error::would_block) return got;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - monotonic_clock::now());
        if (left.count() <= 0) return error_code{net::error::timed_out};
        pollfd asked{.fd = socket_.native_handle(), .events = POLLIN, .revents = 0};
        ::poll(&asked, 1, static_cast<int>(left.count()));
    }
}

void message_socket::refuse_more() noexcept {
    ::shutdown(socket_.native_handle(), SHUT_RD);
}

message_listener::message_listener(const std::string& path, place is) : socket_(new_socket()) {
    if (is == place::given_up || is_left_over(path)) ::unlink(path.c_str());
    const address_of there{path};
    const mode_mask mask{S_IXUSR | S_IRWXG | S_IRWXO};  // for its owner alone
    if (::bind(socket_.native_handle(), there.data(), there.size()) != 0)
        throw boost::system::system_error{last_error()};
    file_ = socket_file{path};
    if (::listen(socket_.native_handle(), waiting_max) != 0) throw boost::system::system_error{last_error()};
}

result<message_socket, error_code> message_listener::accept() noexcept {
    const int got = ::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (got < 0) return errno == EAGAIN ? error_code{net::error::would_block} : last_error();
    return message_socket{detached_socket{got}};
}

std::string takeover_path(const config& settings) {
    if (!settings.server.takeover_socket.empty()) return settings.server.takeover_socket;
    if (settings.state.dir.empty()) return "";
    return std::filesystem::path{settings.state.dir} / "takeover";
}

}  // namespace seriesgate
