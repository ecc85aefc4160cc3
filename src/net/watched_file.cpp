#include "net/watched_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/log.hpp"
#include "net/descriptor.hpp"

namespace seriesgate {
namespace {

using clock = wall_clock;

/// File times have steps: a tick of the kernel, or up to two seconds on some file systems.
constexpr std::chrono::seconds step_of_times{2};

/// The inode's change time, which programs cannot set.
clock::time_point time_of_change(const struct stat& about) {
    const auto since = std::chrono::seconds{about.st_ctim.tv_sec} + std::chrono::nanoseconds{about.st_ctim.tv_nsec};
    return clock::time_point{std::chrono::duration_cast<clock::time_point::duration>(since)};
}

std::string_view without_line_end(std::string_view text) noexcept {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

std::string wrong_with(std::string_view line) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (line.empty()) return "is empty";
    if (line.size() > secret_file::bytes_max) return "holds more than 8 KiB";
    if (std::ranges::any_of(line, is_control)) return "holds more than one line, or control characters";
    return "";
}

}  // namespace

bool text_file::refresh() {
    auto found = read();
    const bool has_new_text = found && *found;
    return std::exchange(fault_, found ? std::string{} : std::move(found).error()) != fault_ || has_new_text;
}

result<bool, std::string> text_file::read() {
    const auto unreadable = [this] { return "cannot read " + path_ + ": " + std::generic_category().message(errno); };
    const descriptor file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};  // a pipe must not block
    struct stat about {};
    if (!file.open() || ::fstat(file.get(), &about) != 0) return unreadable();
    if (!S_ISREG(about.st_mode)) return "cannot read " + path_ + ": not a file";
    const stamp now{.device = about.st_dev,
                    .inode = about.st_ino,
                    .bytes = static_cast<std::uint64_t>(about.st_size),
                    .changed = time_of_change(about)};
    if (read_ == now) return false;
    const bool reliable = now.changed + step_of_times < clock::now();
    std::string text;
    if (!read_whole(file, bytes_max, text)) return unreadable();
    if (text.size() > bytes_max) return path_ + " is too large";
    read_ = reliable ? std::optional{now} : std::nullopt;
    return std::exchange(text_, std::move(text)) != text_;
}

const std::string& debounced_file::load() {
    file_.refresh();
    if (file_.fault().empty()) text_ = file_.text();
    return fault_ = file_.fault();
}

bool debounced_file::refresh(const file_look& look) {
    if (file_.refresh()) changed_ = look.now;
    if (!changed_ || (!look.are_whole && look.now - *changed_ < settling)) return false;
    const bool is_readable = file_.fault().empty();
    const bool is_new = file_.fault() != fault_ || (is_readable && file_.text() != text_);
    if (is_readable) text_ = file_.text();
    fault_ = file_.fault();
    changed_.reset();
    return is_new;
}

secret_file::secret_file(std::string key, std::string path) : key_(std::move(key)), file_(std::move(path)) {
    file_.load();
    if (const std::string fault = fault_of_file(); !fault.empty()) throw std::runtime_error(key_ + ": " + fault);
    secret_ = secret_text{without_line_end(file_.text())};
}

std::string secret_file::fault_of_file() const {
    if (!file_.fault().empty()) return file_.fault();
    const std::string wrong = wrong_with(without_line_end(file_.text()));
    return wrong.empty() ? "" : file_.path() + " " + wrong;
}

bool secret_file::refresh(const file_look& look) {
    is_untaken_ = file_.refresh(look) || is_untaken_;
    if (!is_untaken_) return false;
    std::string fault = fault_of_file();
    const bool is_new = fault.empty() && without_line_end(file_.text()) != secret_.reveal();
    if (is_new) secret_ = secret_text{without_line_end(file_.text())};
    is_untaken_ = false;
    if (!fault.empty() && fault != fault_)
        log::warn("a secret file cannot be used, what it held before is kept", {{"key", key_}, {"err", fault}});
    if (is_new || (fault.empty() && !fault_.empty()))
        log::info("a secret file was read", {{"key", key_}, {"file", file_.path()}});
    fault_ = std::move(fault);
    return is_new;
}

}  // namespace seriesgate
