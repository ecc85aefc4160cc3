/// Shared settings of all TLS connections of one side: certificates, trust, versions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/tls_words.hpp"

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

/// The end of our own certificate; nothing without one. It may have expired: the peer decides.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> not_after_of(const tls_context& from) noexcept;

/// @return the error: it names the wrong setting without its content.
[[nodiscard]] result<std::shared_ptr<const tls_context>, std::string> make_tls_context(const tls_settings& settings);

}  // namespace seriesgate
