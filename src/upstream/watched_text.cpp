#include "upstream/watched_text.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "log/log.hpp"

namespace seriesgate {
namespace {

std::string_view without_line_end(std::string_view text) noexcept {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

std::string wrong_with(std::string_view line) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (line.empty()) return "is empty";
    if (line.size() > watched_text::bytes_max) return "holds more than 8 KiB";
    if (std::ranges::any_of(line, is_control)) return "holds more than one line, or control characters";
    return "";
}

}  // namespace

watched_text::watched_text(std::string key, std::string path) : key_(std::move(key)), file_(std::move(path)) {
    if (const std::string fault = read(); !fault.empty()) throw std::runtime_error(key_ + ": " + fault);
}

/// @return why the file is no good; nothing if text_ is what it says.
std::string watched_text::read() {
    if (const auto changed = file_.refresh(); !changed) return changed.error();
    const std::string_view line = without_line_end(file_.text());
    if (const std::string wrong = wrong_with(line); !wrong.empty()) return file_.path() + " " + wrong;
    if (line != text_.reveal()) text_ = secret_text{line};
    return "";
}

bool watched_text::refresh() {
    const secret_text before = text_;
    std::string fault = read();
    const bool is_new = text_ != before;
    if (!fault.empty() && fault != fault_)
        log::warn("a secret file cannot be used, what it held before is kept", {{"key", key_}, {"err", fault}});
    if (is_new || (fault.empty() && !fault_.empty()))
        log::info("a secret file was read", {{"key", key_}, {"file", file_.path()}});
    fault_ = std::move(fault);
    return is_new;
}

}  // namespace seriesgate
