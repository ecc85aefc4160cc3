/// Certificates, made when they are needed: one in a file would run out one day.
#pragma once

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include "net/openssl.hpp"

namespace seriesgate::testing {

struct certificate {
    std::string chain;  ///< PEM, as is the key
    std::string key;
};

/// What a certificate is to say.
struct certificate_wish {
    std::string common_name{};
    std::string names{};  ///< of subjectAltName, in OpenSSL's words: "DNS:a.test,URI:x://y"; none without
    std::chrono::seconds lifetime = std::chrono::hours{1};
    const certificate* issuer = nullptr;  ///< itself without
    bool authority = false;               ///< whether it may vouch for others
};

inline void require_made(bool made) {
    if (!made) throw std::runtime_error("OpenSSL makes no certificate");
}

inline std::string text_of(BIO* from) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(from, &text);
    return {text, static_cast<std::size_t>(size)};
}

inline void extend(X509* made, int kind, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    require_made(extension != nullptr);
    X509_add_ext(made, extension, -1);
    X509_EXTENSION_free(extension);
}

inline void sign(X509* made, EVP_PKEY* own_key, const certificate* issuer) {
    if (issuer == nullptr) {
        X509_set_issuer_name(made, X509_get_subject_name(made));
        require_made(X509_sign(made, own_key, EVP_sha256()) > 0);
        return;
    }
    const bio_ptr chain{BIO_new_mem_buf(issuer->chain.data(), -1)};
    const bio_ptr secret{BIO_new_mem_buf(issuer->key.data(), -1)};
    const certificate_ptr by{PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)};
    const key_ptr key{PEM_read_bio_PrivateKey(secret.get(), nullptr, nullptr, nullptr)};
    X509_set_issuer_name(made, X509_get_subject_name(by.get()));
    require_made(X509_sign(made, key.get(), EVP_sha256()) > 0);
}

inline certificate make_certificate(const certificate_wish& wish) {
    const key_ptr key{EVP_EC_gen("P-256")};
    const certificate_ptr made{X509_new()};
    require_made(key != nullptr);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600 * 24);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), wish.lifetime.count());
    X509_set_pubkey(made.get(), key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(wish.common_name.c_str()), -1, -1, 0);
    if (!wish.names.empty()) extend(made.get(), NID_subject_alt_name, wish.names);
    if (wish.authority) extend(made.get(), NID_basic_constraints, "critical,CA:TRUE");
    sign(made.get(), key.get(), wish.issuer);

    const bio_ptr chain{BIO_new(BIO_s_mem())};
    PEM_write_bio_X509(chain.get(), made.get());
    const bio_ptr secret{BIO_new(BIO_s_mem())};
    PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return {.chain = text_of(chain.get()), .key = text_of(secret.get())};
}

/// Of a server with this name, which signs itself.
inline certificate server_certificate(const std::string& name) {
    return make_certificate({.common_name = name, .names = "DNS:" + name});
}

}  // namespace seriesgate::testing
