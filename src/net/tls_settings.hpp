/// What is told of one side's TLS.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace seriesgate {

enum class tls_role : std::uint8_t { client, server };

enum class tls_version : std::uint8_t { v1_2, v1_3 };

/// What a server asks of its clients. Source: Go's crypto/tls, ClientAuthType, whose names Prometheus' files use.
enum class client_certificates : std::uint8_t {
    none,                ///< NoClientCert
    request,             ///< RequestClientCert: asked for, and nothing is checked
    require_any,         ///< RequireAnyClientCert: nothing is checked but that there is one
    verify_if_given,     ///< VerifyClientCertIfGiven
    require_and_verify,  ///< RequireAndVerifyClientCert
};

/// Texts, not names of files. All that is left empty is OpenSSL's own choice.
struct tls_settings {
    tls_role role = tls_role::client;
    std::string certificates{};  ///< PEM: our own first, then those that lead to its authority; a server needs one
    std::string key{};           ///< PEM, without a password
    std::string authorities{};   ///< PEM: whom to trust; a client without trusts the system's

    client_certificates clients = client_certificates::none;
    /// Of those that a client's certificate has as subjectAltName, one has to be here; all may, if this is empty.
    std::vector<std::string> client_names{};

    tls_version oldest = tls_version::v1_2;
    tls_version newest = tls_version::v1_3;
    std::vector<std::string>
        cipher_suites{};                ///< IANA's names, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"; of both versions
    std::vector<std::string> curves{};  ///< Go's names, "CurveP256", "X25519"; best first
};

}  // namespace seriesgate
