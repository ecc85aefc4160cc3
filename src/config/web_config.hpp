/// Who may ask, and by what TLS: the web configuration file, in Prometheus' form.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/secret_text.hpp"
#include "core/tls_words.hpp"

/// Source: prometheus/exporter-toolkit, docs/web-configuration.md. Every key is described in docs/configuration.md.
namespace seriesgate {

/// How the listeners speak TLS. Paths are as they are to be opened.
struct web_tls_config {
    std::string cert_file;
    std::string key_file;
    client_certificates client_auth = client_certificates::none;
    std::string client_ca_file;  ///< empty unless clients' certificates are verified
    std::vector<std::string> client_allowed_sans;
    tls_version version_min = tls_version::v1_2;
    tls_version version_max = tls_version::v1_3;
    std::vector<std::string> cipher_suites;  ///< IANA's names, of both versions; empty: OpenSSL's own choice
    std::vector<std::string> curves;         ///< Go's names, likewise
    bool server_preference = true;           ///< of cipher suites

    bool operator==(const web_tls_config&) const = default;

    /// Whether a certificate that a client shows proves who it is.
    [[nodiscard]] bool verifies_clients() const noexcept {
        return client_auth == client_certificates::verify_if_given ||
               client_auth == client_certificates::require_and_verify;
    }
};

/// A token and the name of who has it. One name may have several, so that one can take another's place.
struct bearer_token {
    std::string name;
    std::string token_file;
    secret_text token{};  ///< what stands in the file; empty: nobody has it

    bool operator==(const bearer_token&) const = default;
};

using user_names = std::set<std::string, std::less<>>;

/// The file. As it is by default it asks nothing of anyone.
struct web_config {
    std::optional<web_tls_config> tls;
    std::vector<std::pair<std::string, std::string>> answer_headers;  ///< of every answer

    std::map<std::string, secret_text, std::less<>> basic_auth_users;  ///< name to bcrypt hash
    std::vector<bearer_token> bearer_tokens;
    std::optional<user_names> ingestion_users;                ///< who may write; none: whoever is let in
    std::optional<user_names> admin_users;                    ///< who may use the other endpoints, likewise
    std::map<std::string, std::string, std::less<>> tenants;  ///< user to the only tenant that it writes for
    std::set<std::string, std::less<>> auth_excluded_paths;   ///< that anyone may ask for

    bool operator==(const web_config&) const = default;

    /// Whether a request has to bring an Authorization header of ours.
    [[nodiscard]] bool has_users() const noexcept { return !basic_auth_users.empty() || !bearer_tokens.empty(); }
};

}  // namespace seriesgate
