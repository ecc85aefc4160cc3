/// OpenSSL's things with owners, for the sources that make TLS and no others.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

namespace seriesgate {

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

}  // namespace seriesgate
