/// What is told of one side's TLS.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tls_words.hpp"

namespace seriesgate {

enum class tls_role : std::uint8_t { client, server };

/// Texts, not names of files. All that is left empty is OpenSSL's own choice.
struct tls_settings {
    tls_role role = tls_role::client;
    std::string certificates{};  ///< PEM: our own first, then those that lead to its authority; a server needs one
    std::string key{};           ///< PEM, without a password
    std::string authorities{};   ///< PEM: whom to trust; a client without trusts the system's
    bool any_server = false;     ///< a client does not ask who the server is: anybody on the way may be it

    client_certificates clients = client_certificates::none;
    /// Of those that a client's certificate has as subjectAltName, one has to be here; all may, if this is empty.
    std::vector<std::string> client_names{};

    tls_version oldest = tls_version::v1_2;
    tls_version newest = tls_version::v1_3;
    /// IANA's names, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"; of both versions.
    std::vector<std::string> cipher_suites{};
    std::vector<std::string> curves{};  ///< Go's names, "CurveP256", "X25519"; best first
    bool server_preference = true;      ///< of cipher suites: the server's own order decides
};

}  // namespace seriesgate
