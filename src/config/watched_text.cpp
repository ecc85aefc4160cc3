#include "config/watched_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "log/log.hpp"

namespace seriesgate {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
/// Two writes within a tick of a file system's clock leave one mark.
constexpr std::int64_t settled_ns = 2 * second_ns;

class open_file {
    int descriptor_;

  public:
    // A pipe that nobody writes to is an empty file, and does not wait.
    explicit open_file(const std::string& path) noexcept
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    ~open_file() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }
};

std::string cannot_be_read() {
    return "cannot be read: " + std::generic_category().message(errno);
}

std::int64_t nanoseconds(const timespec& time) noexcept {
    return static_cast<std::int64_t>(time.tv_sec) * second_ns + time.tv_nsec;
}

file_mark mark_of(const struct stat& status) noexcept {
    return {.device = status.st_dev,
            .inode = status.st_ino,
            .bytes = status.st_size,
            .written_ns = nanoseconds(status.st_mtim),
            .changed_ns = nanoseconds(status.st_ctim)};
}

/// Up to one byte more than a secret may have.
/// @return what is wrong, or nothing.
std::string read_all(int descriptor, std::string& into) {
    into.resize(watched_text::bytes_max + 1);
    std::size_t read = 0;
    while (read < into.size()) {
        const ssize_t got = ::read(descriptor, into.data() + read, into.size() - read);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_be_read();
        if (got == 0) break;
        read += static_cast<std::size_t>(got);
    }
    into.resize(read);
    return "";
}

std::string wrong_with(std::string_view text) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (text.empty()) return "is empty";
    if (text.size() > watched_text::bytes_max) return "is longer than 8 KiB";
    if (std::ranges::any_of(text, is_control)) return "holds more than one line, or control characters";
    return "";
}

/// @return what is wrong, or nothing; then, and only then, `into` is what the file says.
std::string read_line(int descriptor, secret_text& into) {
    std::string text;
    if (auto wrong = read_all(descriptor, text); !wrong.empty()) return wrong;
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    if (auto wrong = wrong_with(text); !wrong.empty()) return wrong;
    into = secret_text{std::move(text)};
    return "";
}

bool is_settled(const file_mark& mark) noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return nanoseconds(now) - std::max(mark.written_ns, mark.changed_ns) > settled_ns;
}

}  // namespace

watched_text::watched_text(std::string key, std::string path) : key_(std::move(key)), path_(std::move(path)) {
    const open_file file{path_};
    const std::string wrong = file.get() < 0 ? cannot_be_read() : read_line(file.get(), text_);
    if (!wrong.empty()) throw std::runtime_error(key_ + ": " + path_ + " " + wrong);
}

bool watched_text::refresh() {
    const open_file file{path_};
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
        seen_.reset();
        note(cannot_be_read(), false);
        return false;
    }
    const file_mark mark = mark_of(status);
    if (seen_ == mark) return false;
    secret_text read;
    const std::string wrong = read_line(file.get(), read);
    seen_ = is_settled(mark) ? std::optional{mark} : std::nullopt;
    const bool is_new = wrong.empty() && read != text_;
    if (is_new) text_ = std::move(read);
    note(wrong, is_new);
    return is_new;
}

/// Each news once.
void watched_text::note(const std::string& fault, bool is_new) {
    if (!fault.empty() && fault != fault_)
        log::warn("a secret file cannot be used, what it held before is kept",
                  {{"key", key_}, {"file", path_}, {"err", fault}});
    if (is_new || (fault.empty() && !fault_.empty()))
        log::info("a secret file was read", {{"key", key_}, {"file", path_}});
    fault_ = fault;
}

}  // namespace seriesgate
