/// A TLS context made from files that may be replaced while the gate runs.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "core/result.hpp"
#include "net/tls_context.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

/// Paths of the texts of tls_settings; empty: none.
struct tls_file_names {
    std::string certificates{};
    std::string key{};
    std::string authorities{};
};

/// Holds the last good context of the files. A certificate and its key are replaced one after the other; until both
/// fit, the previous context stays.
class tls_files {
    tls_settings settings_;
    debounced_file certificates_;
    debounced_file key_;
    debounced_file authorities_;
    bool untaken_ = false;  // texts read, but not yet made into a context
    std::string fault_;
    bool fault_told_ = false;
    std::chrono::system_clock::time_point expiry_told_{};
    mutable std::mutex lock_;
    std::shared_ptr<const tls_context> current_;

    struct no_context_yet {};

  public:
    /// @param settings without the files' texts. @return the error, with the file's name.
    [[nodiscard]] static result<std::unique_ptr<tls_files>, std::string> load(tls_settings settings,
                                                                              const tls_file_names& names);
    tls_files(no_context_yet, tls_settings settings, const tls_file_names& names);

    /// For new connections. Threads: any.
    [[nodiscard]] std::shared_ptr<const tls_context> current() const;

    /// Takes changed files (see debounced_file) and logs that. Logs an error once, when it has seen it twice. Logs once
    /// a day that the certificate expires soon. Waits for the disk. Threads: one at a time.
    /// @param date for the certificate's expiry
    void refresh(const file_look& look = {}, std::chrono::system_clock::time_point date = wall_clock::now());

    /// Whether the context is of the files as they are. What is being replaced counts as taken, for a moment. Threads:
    /// that of refresh().
    [[nodiscard]] bool are_taken() const { return !fault_told_; }

  private:
    /// @return the error; empty if all files were read.
    [[nodiscard]] std::string read(const file_look& look);
    [[nodiscard]] result<std::shared_ptr<const tls_context>, std::string> make() const;
    void take(std::shared_ptr<const tls_context> made);
    void warn_of(std::string fault);
    void warn_of_expiry(std::chrono::system_clock::time_point now);
};

}  // namespace seriesgate
