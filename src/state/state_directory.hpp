/// The directory that the state is kept in: one process at a time, and never a file that is half written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "state/descriptor.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
