#include "net/socket_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace seriesgate {
namespace {

/// Allows owner and group to read and write.
constexpr mode_t mask_of_sockets = S_IXUSR | S_IXGRP | S_IRWXO;

/// Replaces the process' mask, which usually denies writing to the group, and so connecting. A mask that also denies
/// reading means to exclude the group, and keeps doing so.
class mode_mask {
    const mode_t before_;

  public:
    mode_mask() noexcept : before_(::umask(mask_of_sockets)) {
        if ((before_ & S_IRGRP) != 0) ::umask(mask_of_sockets | S_IRWXG);
    }
    mode_mask(const mode_mask&) = delete;
    mode_mask& operator=(const mode_mask&) = delete;
    ~mode_mask() { ::umask(before_); }
};

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

}  // namespace

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

listening_file listen_at_path(net::io_context& io, const std::string& path) {
    const stream_endpoint where = unix_endpoint(path);
    if (is_left_over(io, path)) ::unlink(path.c_str());
    const mode_mask mask;
    stream_acceptor made = listen_at(io, where);
    return {.file = socket_file{path}, .acceptor = std::move(made)};
}

}  // namespace seriesgate
