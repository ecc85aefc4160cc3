/// What OpenSSL says of a failure, in words for a log line.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/tls_settings.hpp"

namespace seriesgate {

// --- OpenSSL's things with owners, for the sources that make TLS and no others.

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* what) const noexcept {
        Free(what);
    }
};

using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free>>;
using bio_method_ptr = std::unique_ptr<BIO_METHOD, freed_by<BIO_meth_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using ssl_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;
using ssl_context_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using ssl_session_ptr = std::unique_ptr<SSL_SESSION, freed_by<SSL_SESSION_free>>;

// --- What a client keeps of TLS sessions, so that the next one with the same server is cheaper.

/// By the name that the server had to prove: a resumed session proves it again by knowing the ticket's secret.
/// Threads: any. Held for a handshake's sake only, so that the lock is nobody's hot path.
class tls_tickets {
    std::mutex lock_;
    std::map<std::string, std::deque<ssl_session_ptr>> kept_;  // newest last

  public:
    static constexpr std::size_t names_max = 64;
    static constexpr std::size_t each_max = 8;  ///< TLS 1.3 uses a ticket once, and connections are opened together

    /// Beyond the bounds the oldest of this name is forgotten; further names are not kept.
    void give(const std::string& name, ssl_session_ptr session);
    /// Nothing if there is none.
    [[nodiscard]] ssl_session_ptr take(const std::string& name);
};

// --- What a tls_context is made of, for the sources that make TLS and no others.

struct openssl_context {
    tls_role role;
    client_certificates clients;
    std::vector<std::string> client_names;
    std::string subject;
    std::optional<std::chrono::system_clock::time_point> not_after;
    tls_tickets tickets;  // a client's
    ssl_context_ptr ssl;

    /// Whether a client's certificate, if there is one, has been verified.
    [[nodiscard]] bool verifies_clients() const noexcept {
        return clients == client_certificates::verify_if_given || clients == client_certificates::require_and_verify;
    }
};

// --- Whom a certificate names.

/// The first DNS name of subjectAltName, or else its first URI, its first email address, or the subject's common name;
/// empty if there is none. Names with bytes that are not printable ASCII are none: they end up in logs.
[[nodiscard]] std::string name_in(X509* certificate);

/// Whether one of subjectAltName's entries (DNS, URI, email or IP address) is one of these.
[[nodiscard]] bool has_any_name(X509* certificate, const std::vector<std::string>& of);

/// "CN=store.test,O=Example".
[[nodiscard]] std::string subject_of(X509* certificate);

/// Why the last operation failed, from this thread's queue of OpenSSL's errors and the certificate's verification.
[[nodiscard]] std::string failure_of(const SSL* of);

/// The first error in this thread's queue, which is emptied.
[[nodiscard]] std::string take_openssl_error();

}  // namespace seriesgate
