/// OpenSSL objects with owners, session tickets, error texts. For sources that make TLS, no others.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/tls_words.hpp"

namespace seriesgate {

enum class tls_role : std::uint8_t;  // see net/tls_context.hpp

// --- Owning pointers.

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

// --- Session tickets of a client.

/// Tickets to resume TLS sessions, by the server name that was verified: a resumed session proves the name by its
/// secret. Threads: any. Used once a handshake, so the lock is no bottleneck.
class tls_tickets {
    std::mutex lock_;
    std::map<std::string, std::deque<ssl_session_ptr>> kept_;  // newest last

  public:
    static constexpr std::size_t names_max = 64;
    static constexpr std::size_t each_max = 8;  ///< TLS 1.3 uses a ticket once, and connections open together

    /// Beyond the bounds it drops the oldest ticket of the name, and tickets of further names.
    void give(const std::string& name, ssl_session_ptr session);
    [[nodiscard]] ssl_session_ptr take(const std::string& name);
};

// --- The settings of one side.

struct tls_context {
    tls_role role;
    client_certificates clients;
    std::vector<std::string> client_names;
    std::string subject;  // of our own certificate; empty without one
    std::optional<std::chrono::system_clock::time_point> not_after;
    mutable tls_tickets tickets;  // of a client
    ssl_context_ptr ssl;

    [[nodiscard]] bool verifies_clients() const noexcept {
        return clients == client_certificates::verify_if_given || clients == client_certificates::require_and_verify;
    }
};

// --- Error texts.

/// Why the last operation failed, from this thread's OpenSSL errors and the certificate verification.
[[nodiscard]] std::string failure_of(const SSL* of);

/// The first of this thread's OpenSSL errors; clears them all.
[[nodiscard]] std::string take_openssl_error();

}  // namespace seriesgate
