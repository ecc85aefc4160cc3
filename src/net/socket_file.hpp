/// The file of a unix socket: created with the listener, removed with it.
#pragma once

#include <sys/types.h>

#include <string>

#include "net/socket.hpp"

namespace seriesgate {

/// Removes the file when destroyed, unless another file has replaced it. Threads: one at a time.
class socket_file {
    std::string path_;
    dev_t device_ = 0;
    ino_t number_ = 0;

  public:
    socket_file() = default;
    /// @param path if no file exists there, nothing is removed later.
    explicit socket_file(std::string path);
    socket_file(socket_file&& other) noexcept;
    socket_file& operator=(socket_file&& other) noexcept;
    ~socket_file() { remove(); }

    void remove() noexcept;
    /// Leaves the file to another owner.
    void forget() noexcept { path_.clear(); }
    [[nodiscard]] bool is_ours() const noexcept { return !path_.empty(); }
};

struct listening_file {
    socket_file file;
    stream_acceptor acceptor;
};

/// Binds and listens; throws boost::system::system_error. Replaces the socket file of a killed process. Owner and group
/// may connect, others may not. Threads: one, and no other thread may create files meanwhile, since the file mode mask
/// belongs to the process.
[[nodiscard]] listening_file listen_at_path(net::io_context& io, const std::string& path);

/// A listening socket without an acceptor yet; opened by this process or inherited.
struct listening_socket {
    socket_file file{};  ///< none for TCP, and where another process removes the file
    detached_socket socket;
    bool leaves_file = false;  ///< another process still owns the file and will leave it to this one
};

}  // namespace seriesgate
