/// The file of a unix socket: made when it listens, gone when it does not.
#pragma once

#include <sys/types.h>

#include <string>

#include "net/socket.hpp"

namespace seriesgate {

/// Removes the file when it goes, if it is still the one that was made: somebody may have put another in its place.
/// Threads: one at a time.
class socket_file {
    std::string path_;  ///< empty: none
    dev_t device_ = 0;
    ino_t number_ = 0;

  public:
    socket_file() = default;
    /// Of the file that is there now. @param path nothing is removed if none is there.
    explicit socket_file(std::string path);
    socket_file(socket_file&& other) noexcept;
    socket_file& operator=(socket_file&& other) noexcept;
    ~socket_file() { remove(); }

    void remove() noexcept;
    /// It is somebody else's from now on.
    void forget() noexcept { path_.clear(); }
    [[nodiscard]] bool is_ours() const noexcept { return !path_.empty(); }
};

struct listening_file {
    socket_file file;
    stream_acceptor acceptor;
};

/// Binds and listens; throws boost::system::system_error. A socket that nobody listens at any more, because its process
/// was killed, is replaced. The file is its owner's and its group's to connect to, and nobody else's.
/// Threads: one, and no other makes files meanwhile: the mask of file modes is the process'.
[[nodiscard]] listening_file listen_at_path(net::io_context& io, const std::string& path);

/// A socket that listens, before somebody accepts there: made by this process or given to it.
struct listening_socket {
    socket_file file{};  ///< none, for TCP and where others remove it
    detached_socket socket;
    bool leaves_file = false;  ///< it has one that another process has yet to leave to this one
};

}  // namespace seriesgate
