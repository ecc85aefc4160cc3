/// What the clients of all workers have in common.
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

// --- What is counted about connections to the shared store.

class exposition;

/// Threads: any.
struct redis_metrics {
    counter connections;       ///< that were made, and could be used
    counter connect_failures;  ///< attempts that came to nothing, whatever the reason
    counter late_replies;      ///< to calls that had been given up
};

/// Its families.
void write(exposition& out, const redis_metrics& metrics);

/// What the connections of all threads have in common. Credentials are as their files last were good. Threads: any.
class redis_shared {
    const redis_config& config_;
    std::optional<secret_file> password_file_;
    guarded<std::string> password_;
    std::unique_ptr<tls_files> tls_;  // with rediss://
    guarded<std::string> last_error_;

  public:
    redis_metrics metrics;

    /// Reads the files. Throws std::runtime_error with one line that names the key and the file.
    /// @param config must outlive this
    explicit redis_shared(const redis_config& config);

    /// Reads the files that have changed again. Waits for the disk. Threads: one at a time.
    void refresh_files(const file_look& look = {});

    /// Empty if there is no shared.passwordFile.
    [[nodiscard]] std::string password();

    /// A session for a connection to that host.
    /// Throws boost::system::system_error for a host that can be no name. There has to be rediss://.
    [[nodiscard]] std::unique_ptr<tls_session> make_session(const std::string& host);

    /// What was last wrong with the server or the way to it; empty if nothing ever was.
    [[nodiscard]] std::string last_error();
    void note(const redis_error& error);
};

}  // namespace seriesgate
