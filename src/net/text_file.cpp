#include "net/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "system/clock.hpp"

namespace seriesgate {
namespace {

using clock = wall_clock;

/// Files' times go in steps, of a kernel's tick or, on some file systems, of up to two seconds.
constexpr std::chrono::seconds step_of_times{2};

class open_file {
    int descriptor_;

  public:
    /// Does not wait for what is a pipe.
    explicit open_file(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    ~open_file() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    /// What about() says without an error.
    [[nodiscard]] bool about(struct stat& into) const { return descriptor_ >= 0 && ::fstat(descriptor_, &into) == 0; }
    /// @return false with errno
    [[nodiscard]] bool read(std::string& into) const {
        std::size_t size = 0;
        into.resize(text_file::bytes_max + 1);
        while (size < into.size()) {
            const ssize_t got = ::read(descriptor_, into.data() + size, into.size() - size);
            if (got < 0 && errno != EINTR) return false;
            if (got == 0) break;
            size += got < 0 ? 0 : static_cast<std::size_t>(got);
        }
        into.resize(size);
        return true;
    }
};

/// Of its inode: no program can set that one.
clock::time_point time_of_change(const struct stat& about) {
    const auto since = std::chrono::seconds{about.st_ctim.tv_sec} + std::chrono::nanoseconds{about.st_ctim.tv_nsec};
    return clock::time_point{std::chrono::duration_cast<clock::time_point::duration>(since)};
}

}  // namespace

result<bool, std::string> text_file::refresh() {
    const auto unreadable = [this] { return "cannot read " + path_ + ": " + std::generic_category().message(errno); };
    const open_file file{path_};
    struct stat about {};
    if (!file.about(about)) return unreadable();
    if (!S_ISREG(about.st_mode)) return "cannot read " + path_ + ": not a file";
    const stamp now{.device = about.st_dev,
                    .inode = about.st_ino,
                    .bytes = static_cast<std::uint64_t>(about.st_size),
                    .changed = time_of_change(about)};
    if (read_ == now) return false;
    const bool reliable = now.changed + step_of_times < clock::now();
    std::string text;
    if (!file.read(text)) return unreadable();
    if (text.size() > bytes_max) return path_ + " is too large";
    read_ = reliable ? std::optional{now} : std::nullopt;
    return std::exchange(text_, std::move(text)) != text_;
}

}  // namespace seriesgate
