/// The directory that the state is kept in: one process at a time, and never a file that is half written.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/state_stream.hpp"

namespace seriesgate {

// --- A file descriptor that closes itself.

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

/// A directory, held open and locked by the file `lock` in it.
///
/// Everything in it is reached from the descriptor, not by its path: what takes the directory's place while we run is
/// noticed by hold(), not written into. Only regular files are opened, no link is followed, and nothing that lies under
/// one of our names (a FIFO, a device) can make us wait. What is made has mode 0600, the directory 0700.
///
/// Functions throw std::runtime_error with one readable line.
/// Threads: one at a time.
class state_directory {
    std::filesystem::path path_;
    descriptor directory_;
    descriptor lock_;

  public:
    /// Makes the directory if it is not there, and locks it against other processes.
    explicit state_directory(std::filesystem::path path);

    enum class holding : std::uint8_t {
        kept,
        renewed,  ///< the directory or its lock was gone: made and locked anew, but what was in it is lost
    };
    /// Whether the path still names the directory that is locked, and the lock is still in it.
    [[nodiscard]] bool is_held() const noexcept;
    /// To be called before something is written. Throws if another process has the path now, or if another directory
    /// has, with files in it that are not ours to replace.
    [[nodiscard]] holding hold();

    /// Lets another process lock it. Nothing may be written until take_back().
    void give_up() noexcept { lock_ = {}; }
    /// Locks it again. Throws if another process has it; then hold() will try, too.
    void take_back() { take(); }

    /// @return a descriptor to read from; none if there is no such file. Throws if it is no regular file.
    [[nodiscard]] std::optional<descriptor> open(std::string_view name) const;

    /// @return a small file's content; none if there is no such file. Throws if it is longer than `size_max`.
    [[nodiscard]] std::optional<std::string> read(std::string_view name, std::size_t size_max) const;

    /// Writes to the descriptor. @return false to give up. A std::system_error is why it failed.
    using writer = std::function<bool(int)>;
    /// Puts a new file in the place of the one of before, if any: written to `name`.new, synced, renamed, and the
    /// directory synced, so that one of the two is there whole at any moment.
    /// @return false if the writer gave up; then, and if this throws, the file of before is kept.
    bool replace(std::string_view name, const writer& write) const;

    /// As messages show it.
    [[nodiscard]] std::string path_of(std::string_view name) const { return (path_ / name).string(); }

  private:
    void take();
};

/// @return why not all of it was written.
std::error_code write_all(int fd, std::string_view bytes) noexcept;

// --- Where the random bytes of this installation's hash key come from.

/// Fresh ones from the system's generator, as many as a key wants at least. Throws std::runtime_error if there are
/// none.
std::string random_secret();

/// Those of a file that several gates share (`fingerprint.secretFile`): all its bytes count, at least
/// hash_key::random_bytes_min of them. Throws std::runtime_error with one readable line.
std::string read_secret(const std::string& path);

/// Those of the file `secret`, which is made, with mode 0600, if it is not there. Throws as read_secret.
std::string kept_secret(const state_directory& directory);

/// Writes them there, in place of what was.
void keep_secret(const state_directory& directory, const std::string& secret);

// --- What was seen of series, kept over restarts: nothing is decided by it.

/// The file `observed`, always whole or absent. It is apart from `state`, so that what is wrong with one costs nothing
/// of the other.
///
/// Format: "SGSEEN1\n", format version (4 bytes), the secret's identity (8 bytes, see hash_key::identity; what was
/// hashed with another one is of no use), what the parts write, and the XXH3-64 of everything before it.
/// Threads: one at a time.
class observed_file {
  public:
    /// Raised when a part writes something else. Files of other versions are refused.
    static constexpr std::uint32_t format_version = 1;
    /// More is no file of ours: parts are bounded.
    static constexpr std::size_t bytes_max = 128u << 20;

    observed_file(const state_directory& directory, std::uint64_t secret) : directory_(directory), secret_(secret) {}

    /// Unless it is what was saved last. Throws std::runtime_error with a readable line.
    /// @param write called once, for all parts.
    void save(const std::function<void(state_encoder&)>& write);

    /// @param read called once, if there is a file that is whole; what it does not take has to stay as it was.
    /// @return why there is one and it was not taken, one line; empty otherwise.
    [[nodiscard]] std::string load(const std::function<bool(state_decoder&)>& read) const;

  private:
    const state_directory& directory_;
    std::uint64_t secret_;
    std::uint64_t saved_ = 0;  // the sum at the end of what was saved last
};

}  // namespace seriesgate
