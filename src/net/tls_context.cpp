#include "net/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <new>
#include <string_view>
#include <utility>

#include "net/certificate_names.hpp"
#include "net/openssl.hpp"

namespace seriesgate {
namespace {

/// The error; nothing if there is none.
using fault = std::optional<std::string>;

constexpr long certificate_bytes_max = 100 * 1024;

/// As in the ALPN extension: each name after its length. Source: RFC 7301, section 3.1.
constexpr std::array<unsigned char, 9> http_1_1{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

bio_ptr reader_of(const std::string& text) {
    return bio_ptr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

/// Keeps OpenSSL from asking for a password at the terminal.
int no_password(char*, int, int, void*) {
    return -1;
}

/// All certificates of a text. Skips other PEM objects; a broken certificate is an error.
result<std::vector<certificate_ptr>, std::string> certificates_in(const std::string& pem) {
    std::vector<certificate_ptr> found;
    const bio_ptr from = reader_of(pem);
    while (certificate_ptr each{PEM_read_bio_X509(from.get(), nullptr, no_password, nullptr)})
        found.push_back(std::move(each));
    const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    const std::string error = take_openssl_error();
    if (!ended) return "a certificate in it cannot be read: " + error;
    if (found.empty()) return std::string{"no certificate in it"};
    return found;
}

result<key_ptr, std::string> key_in(const std::string& pem) {
    const bio_ptr from = reader_of(pem);
    key_ptr found{PEM_read_bio_PrivateKey(from.get(), nullptr, no_password, nullptr)};
    ERR_clear_error();
    if (found) return found;
    if (pem.find("ENCRYPTED") != std::string::npos)
        return std::string{"it is encrypted, and nobody knows its password"};
    return std::string{"no private key in it"};
}

std::optional<std::chrono::system_clock::time_point> time_of(const ASN1_TIME* from) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(from, &parts) != 1) return std::nullopt;
    return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

fault use_certificate(tls_context& of, const tls_settings& settings) {
    if (settings.certificates.empty() && settings.key.empty() && settings.role == tls_role::client) return {};
    auto chain = certificates_in(settings.certificates);
    if (!chain) return "certificate: " + chain.error();
    const auto key = key_in(settings.key);
    if (!key) return "key: " + key.error();
    X509* const own = chain->front().get();
    if (X509_check_private_key(own, key->get()) != 1) {
        ERR_clear_error();
        return "the key does not belong to the certificate";
    }
    if (SSL_CTX_use_certificate(of.ssl.get(), own) != 1) return "certificate: " + take_openssl_error();
    if (SSL_CTX_use_PrivateKey(of.ssl.get(), key->get()) != 1) return "key: " + take_openssl_error();
    for (auto each = chain->begin() + 1; each != chain->end(); ++each)
        if (SSL_CTX_add1_chain_cert(of.ssl.get(), each->get()) != 1) return "certificate: " + take_openssl_error();
    of.subject = subject_of(own);
    of.not_after = time_of(X509_get0_notAfter(own));
    return {};
}

fault trust(tls_context& of, const tls_settings& settings) {
    SSL_CTX* const ssl = of.ssl.get();
    if (settings.authorities.empty()) {
        if (of.verifies_clients()) return "client certificates are to be verified, but no authority is given";
        if (of.role == tls_role::client) SSL_CTX_set_default_verify_paths(ssl);
        return {};
    }
    auto authorities = certificates_in(settings.authorities);
    if (!authorities) return "authorities: " + authorities.error();
    X509_STORE* const store = SSL_CTX_get_cert_store(ssl);
    // Like Go: a listed certificate is trusted, even if it is not a root.
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    for (const certificate_ptr& each : *authorities) {
        if (X509_STORE_add_cert(store, each.get()) != 1) return "authorities: " + take_openssl_error();
        if (of.role == tls_role::server) SSL_CTX_add_client_CA(ssl, each.get());
    }
    return {};
}

/// @return whether we own the session now.
int keep_session(SSL* of, SSL_SESSION* session) {
    ssl_session_ptr kept{session};
    const auto& name = *static_cast<const std::string*>(SSL_get_app_data(of));
    auto& shared = *static_cast<tls_context*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(of)));
    try {
        shared.tickets.give(name, std::move(kept));
    } catch (const std::bad_alloc&) {
    }
    return 1;
}

int accept_any(int, X509_STORE_CTX*) {
    return 1;
}

/// Checks the allowed names on the client's own certificate, after its verification.
int accept_named(int verified, X509_STORE_CTX* checked) {
    if (verified != 1 || X509_STORE_CTX_get_error_depth(checked) != 0) return verified;
    const void* const ssl = X509_STORE_CTX_get_ex_data(checked, SSL_get_ex_data_X509_STORE_CTX_idx());
    const SSL_CTX* const context = SSL_get_SSL_CTX(static_cast<const SSL*>(ssl));
    const auto& of = *static_cast<const tls_context*>(SSL_CTX_get_app_data(context));
    if (has_any_name(X509_STORE_CTX_get_current_cert(checked), of.client_names)) return 1;
    X509_STORE_CTX_set_error(checked, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

fault ask_clients(tls_context& of) {
    if (!of.client_names.empty() && !of.verifies_clients())
        return "names of clients are allowed, but no client certificate is verified";
    SSL_CTX* const ssl = of.ssl.get();
    if (of.clients == client_certificates::none) return {};
    const bool required =
        of.clients == client_certificates::require_any || of.clients == client_certificates::require_and_verify;
    const int mode = SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0);
    const auto names_too = of.client_names.empty() ? nullptr : accept_named;
    SSL_CTX_set_verify(ssl, mode, of.verifies_clients() ? names_too : accept_any);
    SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ssl, 0);
    return {};
}

/// Rejects a client that offers other protocols only. Source: RFC 7301, section 3.2.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, size, http_1_1.data(), http_1_1.size(), offered, offered_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

int number_of(tls_version of) {
    return of == tls_version::v1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

void add_to(std::string& list, std::string_view name) {
    if (!list.empty()) list += ':';
    list += name;
}

/// OpenSSL has a separate list, with other names, for TLS 1.3.
fault set_cipher_suites(SSL_CTX* ssl, const std::vector<std::string>& names) {
    if (names.empty()) return {};
    std::string older;
    std::string newer;
    for (const std::string& each : names) {
        const std::string_view known = OPENSSL_cipher_name(each.c_str());
        if (known == "(NONE)") return "cipher suites: unknown name \"" + each + "\"";
        add_to(known == each ? newer : older, known);
    }
    if (!newer.empty() && SSL_CTX_set_ciphersuites(ssl, newer.c_str()) != 1)
        return "cipher suites: " + take_openssl_error();
    if (older.empty()) {
        SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION);  // no suite of TLS 1.2
    } else if (SSL_CTX_set_cipher_list(ssl, older.c_str()) != 1) {
        return "cipher suites: " + take_openssl_error();
    }
    return {};
}

fault set_curves(SSL_CTX* ssl, const std::vector<std::string>& names) {
    constexpr std::array<std::string_view, 4> known{"CurveP256", "CurveP384", "CurveP521", "X25519"};
    if (names.empty()) return {};
    std::string list;
    for (const std::string& each : names) {
        if (std::ranges::find(known, each) == known.end()) return "curves: unknown name \"" + each + "\"";
        add_to(list, each == "X25519" ? each : "P-" + each.substr(std::string_view{"CurveP"}.size()));
    }
    if (SSL_CTX_set1_groups_list(ssl, list.c_str()) != 1) return "curves: " + take_openssl_error();
    return {};
}

fault set_language(tls_context& of, const tls_settings& settings) {
    SSL_CTX* const ssl = of.ssl.get();
    if (settings.newest < settings.oldest) return "the newest version is older than the oldest";
    SSL_CTX_set_min_proto_version(ssl, number_of(settings.oldest));
    SSL_CTX_set_max_proto_version(ssl, number_of(settings.newest));
    SSL_CTX_set_options(ssl, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    if (settings.server_preference) SSL_CTX_set_options(ssl, SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_max_cert_list(ssl, certificate_bytes_max);
    if (of.role == tls_role::server) {
        SSL_CTX_set_alpn_select_cb(ssl, choose_protocol, nullptr);
        SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);  // the client keeps the tickets
    } else {
        SSL_CTX_set_alpn_protos(ssl, http_1_1.data(), http_1_1.size());
        SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(ssl, keep_session);
    }
    if (fault bad = set_cipher_suites(ssl, settings.cipher_suites)) return bad;
    return set_curves(ssl, settings.curves);
}

fault set_up(tls_context& of, const tls_settings& settings) {
    const int server_is = settings.any_server ? SSL_VERIFY_NONE : SSL_VERIFY_PEER;
    if (of.role == tls_role::client) SSL_CTX_set_verify(of.ssl.get(), server_is, nullptr);
    SSL_CTX_set_app_data(of.ssl.get(), &of);
    if (fault bad = set_language(of, settings)) return bad;
    if (fault bad = use_certificate(of, settings)) return bad;
    if (fault bad = trust(of, settings)) return bad;
    return ask_clients(of);
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> not_after_of(const tls_context& from) noexcept {
    return from.not_after;
}

result<std::shared_ptr<const tls_context>, std::string> make_tls_context(const tls_settings& settings) {
    ERR_clear_error();
    auto made = std::make_shared<tls_context>();
    made->role = settings.role;
    made->clients = settings.role == tls_role::server ? settings.clients : client_certificates::none;
    made->client_names = settings.client_names;
    made->ssl.reset(SSL_CTX_new(settings.role == tls_role::server ? TLS_server_method() : TLS_client_method()));
    if (!made->ssl) return take_openssl_error();
    if (fault bad = set_up(*made, settings)) return *std::move(bad);
    return std::shared_ptr<const tls_context>{std::move(made)};
}

}  // namespace seriesgate
