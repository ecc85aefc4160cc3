/// A certificate that signs itself, made when it is needed: one in a file would run out one day.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "support/catch.hpp"

namespace seriesgate::testing {

struct certificate {
    std::string chain;  ///< PEM, as is the key
    std::string key;
};

inline std::string take_text(BIO* from) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(from, &text);
    std::string taken{text, static_cast<std::size_t>(size)};
    BIO_free(from);
    return taken;
}

/// @param name that it proves, of DNS.
inline certificate make_certificate(const std::string& name) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
    const std::unique_ptr<X509, decltype(&X509_free)> made{X509_new(), X509_free};
    REQUIRE(key);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_set_pubkey(made.get(), key.get());
    X509_NAME* const subject = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1,
                               -1, 0);
    X509_set_issuer_name(made.get(), subject);
    X509_EXTENSION* const names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + name).c_str());
    X509_add_ext(made.get(), names, -1);
    X509_EXTENSION_free(names);
    REQUIRE(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);

    BIO* const chain = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(chain, made.get());
    BIO* const secret = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(secret, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return {.chain = take_text(chain), .key = take_text(secret)};
}

}  // namespace seriesgate::testing
