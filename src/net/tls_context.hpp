/// Shared settings of all TLS connections of one side: certificates, trust, versions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "core/result.hpp"
#include "core/tls_words.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

enum class tls_role : std::uint8_t { client, server };

/// Contents of files, not paths. Empty settings mean OpenSSL's defaults.
struct tls_settings {
    tls_role role = tls_role::client;
    std::string certificates{};  ///< PEM: our own first, then its chain; a server needs one
    std::string key{};           ///< PEM, without a password
    std::string authorities{};   ///< PEM: trusted certificates; a client without any trusts the system's
    bool any_server = false;     ///< a client does not verify the server: anyone on the path may pose as it

    client_certificates clients = client_certificates::none;
    /// A client's certificate must have one of these as subjectAltName; empty: any.
    std::vector<std::string> client_names{};

    tls_version oldest = tls_version::v1_2;
    tls_version newest = tls_version::v1_3;
    /// IANA's names, such as "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", for both versions.
    std::vector<std::string> cipher_suites{};
    std::vector<std::string> curves{};  ///< Go's names, such as "CurveP256" or "X25519"; best first
    bool server_preference = true;      ///< the server's order of cipher suites wins
};

/// Made once for many connections. Session tickets end with it. Clients that must show a certificate get none, so each
/// connection proves the certificate again. Threads: any.
struct tls_context;  // see net/openssl.hpp

/// Subject and end of our own certificate; empty and nothing without one. It may have expired: the peer decides.
[[nodiscard]] const std::string& subject_of(const tls_context& from) noexcept;
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> not_after_of(const tls_context& from) noexcept;

/// @return the error: it names the wrong setting without its content.
[[nodiscard]] result<std::shared_ptr<const tls_context>, std::string> make_tls_context(const tls_settings& settings);

// --- A context made from files that may be replaced while the gate runs.

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

  private:
    /// @return the error; empty if all files were read.
    [[nodiscard]] std::string read(const file_look& look);
    [[nodiscard]] result<std::shared_ptr<const tls_context>, std::string> make() const;
    void take(std::shared_ptr<const tls_context> made);
    void warn_of(std::string fault);
    void warn_of_expiry(std::chrono::system_clock::time_point now);
};

}  // namespace seriesgate
