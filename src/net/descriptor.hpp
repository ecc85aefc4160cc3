/// An owner of an open descriptor, and what is read from one.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
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
    int release() noexcept { return std::exchange(fd_, -1); }
    [[nodiscard]] bool open() const noexcept { return fd_ >= 0; }
    /// Closes now, and reports the error that the destructor would hide.
    [[nodiscard]] bool close() noexcept { return ::close(std::exchange(fd_, -1)) == 0; }
};

/// Appends all that is left to read, until `into` has more than bytes_max. @return false with errno.
inline bool read_whole(const descriptor& from, std::size_t bytes_max, std::string& into) {
    std::array<char, 64u << 10> piece;
    while (into.size() <= bytes_max) {
        const ssize_t got = ::read(from.get(), piece.data(), piece.size());
        if (got == 0) break;
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) into.append(piece.data(), static_cast<std::size_t>(got));
    }
    return true;
}

}  // namespace seriesgate
