/// The TLS of files that may be replaced while the gate runs.
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

/// Where the texts of tls_settings are; empty for those that there are none of.
struct tls_file_names {
    std::string certificates{};
    std::string key{};
    std::string authorities{};
};

/// Holds the context of these files as they last were good. A certificate and its key are replaced one after the other:
/// between the two they do not fit, and what was there before goes on.
class tls_files {
    tls_settings settings_;  // with the texts that were read last
    debounced_file certificates_;
    debounced_file key_;
    debounced_file authorities_;
    bool untaken_ = false;  // texts were read that no context has been made of
    std::string fault_;     // why they are not taken now
    bool fault_told_ = false;
    std::chrono::system_clock::time_point expiry_told_{};
    mutable std::mutex lock_;
    std::shared_ptr<const tls_context> current_;

    struct no_context_yet {};

  public:
    /// @param settings what is not in the files.
    /// @return why not, with the name of the file.
    [[nodiscard]] static result<std::unique_ptr<tls_files>, std::string> load(tls_settings settings,
                                                                              const tls_file_names& names);
    tls_files(no_context_yet, tls_settings settings, const tls_file_names& names);

    /// For connections from now on. Threads: any.
    [[nodiscard]] std::shared_ptr<const tls_context> current() const;

    /// Takes the files if they have changed (see debounced_file), and says so in the log; says once, when it has found
    /// it twice, that they are no good; says once a day that the certificate soon expires. Waits for the disk. Threads:
    /// one at a time.
    /// @param date for the day on which the certificate expires
    void refresh(const file_look& look = {}, std::chrono::system_clock::time_point date = wall_clock::now());

  private:
    /// @return why not; empty if all could be read.
    [[nodiscard]] std::string read(const file_look& look);
    [[nodiscard]] result<std::shared_ptr<const tls_context>, std::string> make() const;
    void take(std::shared_ptr<const tls_context> made);
    void warn_of(std::string fault);
    void warn_of_expiry(std::chrono::system_clock::time_point now);
};

}  // namespace seriesgate
