/// OpenSSL's things with owners, for the files that make TLS and no others.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/tls_settings.hpp"

namespace seriesgate {

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* what) const noexcept {
        Free(what);
    }
};

using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using ssl_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;
using ssl_context_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;

/// What a tls_context is.
struct openssl_context {
    ssl_context_ptr ssl;
    tls_role role;
    client_certificates clients;
    std::vector<std::string> client_names;
    std::string subject;
    std::optional<std::chrono::system_clock::time_point> not_after;

    /// Whether a client's certificate, if there is one, has been verified.
    [[nodiscard]] bool verifies_clients() const noexcept {
        return clients == client_certificates::verify_if_given || clients == client_certificates::require_and_verify;
    }
};

}  // namespace seriesgate
