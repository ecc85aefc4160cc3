#include "redis/redis_shared.hpp"

#include <stdexcept>
#include <utility>

#include "base/metrics.hpp"

namespace seriesgate {

void write(exposition& out, const redis_metrics& metrics) {
    write_counter(out, "seriesgate_shared_connections_total", "Connections to the shared store that were made.",
                  metrics.connections);
    write_counter(out, "seriesgate_shared_connect_failures_total",
                  "Attempts to connect to the shared store that came to nothing.", metrics.connect_failures);
    write_counter(out, "seriesgate_shared_late_replies_total",
                  "Replies of the shared store to commands that had been given up.", metrics.late_replies);
}

namespace {

std::unique_ptr<tls_files> load_tls(const redis_config& config) {
    if (!config.tls) return nullptr;
    const store_tls_config& files = config.tls_files;
    auto made = tls_files::load({.role = tls_role::client},
                                {.certificates = files.cert_file, .key = files.key_file, .authorities = files.ca_file});
    if (!made) throw std::runtime_error("shared.tls: " + made.error());
    return *std::move(made);
}

std::optional<secret_file> load_password(const redis_config& config) {
    if (config.password_file.empty()) return std::nullopt;
    return secret_file{"shared.passwordFile", config.password_file};
}

}  // namespace

redis_shared::redis_shared(const redis_config& config)
    : config_(config),
      password_file_(load_password(config)),
      password_(password_file_ ? password_file_->secret().reveal() : std::string{}),
      tls_(load_tls(config)) {}

void redis_shared::refresh_files(const file_look& look) {
    if (tls_) tls_->refresh(look);
    if (!password_file_) return;
    const std::string before = password_file_->fault();
    if (password_file_->refresh(look)) *password_.lock() = password_file_->secret().reveal();
    // Once, so that a lasting error of the file does not hide why the server is unreachable.
    if (const std::string& fault = password_file_->fault(); !fault.empty() && fault != before)
        note({.text = "shared.passwordFile: " + fault});
}

std::unique_ptr<tls_session> redis_shared::make_session(const std::string& host) {
    const std::string& named = config_.tls_files.server_name;
    return std::make_unique<tls_session>(tls_->current(), named.empty() ? host : named);
}

}  // namespace seriesgate
