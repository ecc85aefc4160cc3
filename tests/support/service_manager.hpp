/// A service manager's side of NOTIFY_SOCKET.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/log.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {

/// What systemd listens at.
class service_manager {
    std::string name_ = std::filesystem::temp_directory_path() / ("notify-" + std::to_string(::getpid()));
    int socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool is_abstract_;

  public:
    explicit service_manager(bool is_abstract) : is_abstract_(is_abstract) {
        log::set_up(log::format::logfmt, log::level::error);
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::memcpy(at.sun_path + (is_abstract ? 1 : 0), name_.c_str(), name_.size());
        const auto size = offsetof(sockaddr_un, sun_path) + name_.size() + 1;
        REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), static_cast<socklen_t>(size)) == 0);
    }
    service_manager(const service_manager&) = delete;
    service_manager& operator=(const service_manager&) = delete;
    ~service_manager() {
        ::close(socket_);
        if (!is_abstract_) ::unlink(name_.c_str());
    }

    /// As in NOTIFY_SOCKET.
    [[nodiscard]] std::string address() const { return (is_abstract_ ? "@" : "") + name_; }
    /// The next message; "nothing" if there is none.
    [[nodiscard]] std::string heard() const {
        std::array<char, 4096> text{};
        const ssize_t size = ::recv(socket_, text.data(), text.size(), 0);
        return size < 0 ? "nothing" : std::string{text.data(), static_cast<std::size_t>(size)};
    }
};

}  // namespace seriesgate::testing
