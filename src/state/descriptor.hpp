/// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace seriesgate {

class descriptor {
    int fd_ = -1;

  public:
    descriptor() = default;
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool open() const noexcept { return fd_ >= 0; }
    /// Closes now, to see the error that the destructor would hide.
    [[nodiscard]] bool close() noexcept { return ::close(std::exchange(fd_, -1)) == 0; }
};

}  // namespace seriesgate
