/// What the clients of all workers have in common.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "config/redis_config.hpp"
#include "core/guarded.hpp"
#include "net/text_file.hpp"
#include "net/tls.hpp"
#include "net/tls_files.hpp"
#include "redis/redis_error.hpp"
#include "redis/redis_metrics.hpp"

namespace seriesgate {

/// Credentials are as their files last were good. Threads: any.
class redis_shared {
    const redis_config& config_;
    std::mutex reading_;  // of whoever refreshes
    text_file password_file_;
    std::string password_;
    std::unique_ptr<tls_files> tls_;  // with rediss://
    guarded<std::string> last_error_;

  public:
    redis_metrics metrics;

    /// Reads the files. Throws std::runtime_error with one line that names the key and the file.
    /// @param config must outlive this
    explicit redis_shared(const redis_config& config);

    /// For a connection that is being made: the file is read again if it has changed. Waits for the disk.
    [[nodiscard]] std::string password();

    /// A session for a connection to that host, by the files as they are now. Waits for the disk.
    /// Throws boost::system::system_error for a host that can be no name. There has to be rediss://.
    [[nodiscard]] std::unique_ptr<tls_session> make_session(const std::string& host);

    /// What was last wrong with the server or the way to it; empty if nothing ever was.
    [[nodiscard]] std::string last_error();
    void note(const redis_error& error);

  private:
    [[nodiscard]] std::string read_password();
};

}  // namespace seriesgate
