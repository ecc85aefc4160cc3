/// Tells the service manager how the process is: systemd's notification protocol, without its library.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <string>
#include <string_view>

namespace seriesgate {

/// Where NOTIFY_SOCKET points to. Source: sd_notify(3), systemd 252; datagrams of lines KEY=VALUE to a unix socket, at
/// a path or, behind '@', under an abstract name.
/// Threads: any.
class notify_socket {
    sockaddr_un to_{};
    socklen_t to_size_ = 0;  // 0: nobody is to be told
    int socket_ = -1;
    std::atomic<bool> has_failed_{false};  // the log says so once

  public:
    /// @param address what NOTIFY_SOCKET says; empty: nobody is told. Of any other kind of address, such as vsock, the
    /// log says that it cannot be used.
    explicit notify_socket(std::string_view address);
    notify_socket(const notify_socket&) = delete;
    notify_socket& operator=(const notify_socket&) = delete;
    ~notify_socket();

    /// Whether somebody is told.
    [[nodiscard]] explicit operator bool() const noexcept { return to_size_ != 0; }

    /// Never waits: a manager that does not read gets nothing. What cannot be said is lost, and the log says so once.
    /// @param lines with or without a newline at the end
    void send(const std::string& lines) noexcept;

  private:
    void failed(const char* why) noexcept;
};

}  // namespace seriesgate
