#include "net/secret_file.hpp"

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
    if (line.size() > secret_file::bytes_max) return "holds more than 8 KiB";
    if (std::ranges::any_of(line, is_control)) return "holds more than one line, or control characters";
    return "";
}

}  // namespace

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
