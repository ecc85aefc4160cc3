#include "redis/redis_shared.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace seriesgate {
namespace {

std::unique_ptr<tls_files> load_tls(const redis_config& config) {
    if (!config.tls) return nullptr;
    const store_tls_config& files = config.tls_files;
    auto made = tls_files::load({.role = tls_role::client},
                                {.certificates = files.cert_file, .key = files.key_file, .authorities = files.ca_file});
    if (!made) throw std::runtime_error("shared.tls: " + made.error());
    return *std::move(made);
}

std::string without_line_end(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    return text;
}

bool is_control(char each) noexcept {
    return static_cast<unsigned char>(each) < 0x20 || each == 0x7f;
}

}  // namespace

redis_shared::redis_shared(const redis_config& config)
    : config_(config), password_file_(config.password_file), tls_(load_tls(config)) {
    if (const std::string fault = read_password(); !fault.empty())
        throw std::runtime_error("shared.passwordFile: " + fault);
}

/// What the file held last stays while it is gone or holds nothing that would do.
/// @return why it is so
std::string redis_shared::read_password() {
    if (password_file_.path().empty()) return "";
    if (const auto changed = password_file_.refresh(); !changed) return changed.error();
    std::string line = without_line_end(password_file_.text());
    if (line.empty()) return password_file_.path() + " is empty";
    if (std::ranges::any_of(line, is_control))
        return password_file_.path() + " holds more than one line, or control characters";
    password_ = std::move(line);
    return "";
}

std::string redis_shared::password() {
    const std::scoped_lock lock{reading_};
    if (const std::string fault = read_password(); !fault.empty()) note({.text = "shared.passwordFile: " + fault});
    return password_;
}

std::unique_ptr<tls_session> redis_shared::make_session(const std::string& host) {
    const std::scoped_lock lock{reading_};
    tls_->refresh();
    const std::string& named = config_.tls_files.server_name;
    return std::make_unique<tls_session>(tls_->current(), named.empty() ? host : named);
}

std::string redis_shared::last_error() {
    return *last_error_.lock();
}

void redis_shared::note(const redis_error& error) {
    *last_error_.lock() = error.text;
}

}  // namespace seriesgate
