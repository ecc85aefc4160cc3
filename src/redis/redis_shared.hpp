/// What the redis clients of all workers share: credentials, TLS, metrics, the last error.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/metrics.hpp"
#include "config/redis_config.hpp"
#include "core/synchronization.hpp"
#include "net/tls_files.hpp"
#include "net/tls_session.hpp"
#include "net/watched_file.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {

// --- Metrics.

/// Threads: any.
struct redis_metrics {
    counter connections;       ///< made and ready for use
    counter connect_failures;  ///< failed attempts, for any reason
    counter late_replies;
};

void write(exposition& out, const redis_metrics& metrics);

/// Keeps the last good content of each file. Threads: any.
class redis_shared {
    const redis_config& config_;
    std::optional<secret_file> password_file_;
    guarded<std::string> password_;
    std::unique_ptr<tls_files> tls_;  // with rediss://
    guarded<std::string> last_error_;

  public:
    redis_metrics metrics;

    /// Reads the files. Throws std::runtime_error with one line that names key and file.
    /// @param config must outlive this object
    explicit redis_shared(const redis_config& config);

    /// Rereads changed files. Waits for the disk. Threads: one at a time.
    void refresh_files(const file_look& look = {});

    /// Empty without shared.passwordFile.
    [[nodiscard]] std::string password() { return *password_.lock(); }

    /// A session for a connection to `host`; only with rediss://. Throws boost::system::system_error for an impossible
    /// name.
    [[nodiscard]] std::unique_ptr<tls_session> make_session(const std::string& host);

    /// Last error of the server or the connection; empty if there was none.
    [[nodiscard]] std::string last_error() { return *last_error_.lock(); }
    void note(const redis_error& error) { *last_error_.lock() = error.text; }
};

}  // namespace seriesgate
