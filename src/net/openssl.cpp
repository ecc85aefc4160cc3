#include "net/openssl.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/sender_address.hpp"

namespace seriesgate {

void tls_tickets::give(const std::string& name, ssl_session_ptr session) {
    const std::scoped_lock held{lock_};
    if (kept_.size() == names_max && !kept_.contains(name)) return;
    auto& of_name = kept_[name];
    if (of_name.size() == each_max) of_name.pop_front();
    of_name.push_back(std::move(session));
}

ssl_session_ptr tls_tickets::take(const std::string& name) {
    const std::scoped_lock held{lock_};
    const auto found = kept_.find(name);
    if (found == kept_.end() || found->second.empty()) return nullptr;
    SSL_SESSION* const newest = found->second.back().get();
    // A reused ticket would reveal that both connections come from one client: RFC 8446, C.4. TLS 1.2 sends no new
    // tickets.
    if (SSL_SESSION_get_protocol_version(newest) == TLS1_2_VERSION) {
        SSL_SESSION_up_ref(newest);
        return ssl_session_ptr{newest};
    }
    ssl_session_ptr taken = std::move(found->second.back());
    found->second.pop_back();
    return taken;
}

namespace {

using names_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;

names_ptr alternative_names(X509* certificate) {
    return names_ptr{
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
}

std::string_view text_of(const ASN1_STRING* from) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(from)),
            static_cast<std::size_t>(ASN1_STRING_length(from))};
}

bool is_printable(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char each) { return each >= ' ' && each < 0x7f; });
}

/// Empty for kinds that the gate does not use, and for an address that is neither IPv4 nor IPv6.
std::string text_of(const GENERAL_NAME* from) {
    int kind = 0;
    const void* const value = GENERAL_NAME_get0_value(from, &kind);
    if (kind != GEN_DNS && kind != GEN_URI && kind != GEN_EMAIL && kind != GEN_IPADD) return {};
    const std::string_view bytes = text_of(static_cast<const ASN1_STRING*>(value));
    if (kind == GEN_IPADD && bytes.size() != 4 && bytes.size() != 16) return {};
    if (kind == GEN_IPADD) return ip_address_of(bytes).to_string();
    return is_printable(bytes) ? std::string{bytes} : std::string{};
}

std::string first_of(const GENERAL_NAMES* names, int wanted) {
    for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
        const GENERAL_NAME* const each = sk_GENERAL_NAME_value(names, i);
        if (each->type != wanted) continue;
        if (std::string text = text_of(each); !text.empty()) return text;
    }
    return {};
}

std::string common_name(X509* certificate) {
    const X509_NAME* const subject = X509_get_subject_name(certificate);
    const int where = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (where < 0) return {};
    const std::string_view text = text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, where)));
    return is_printable(text) ? std::string{text} : std::string{};
}

struct worded {
    int reason;
    std::string_view text;
};

constexpr worded words[] = {
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "no client certificate"},
    {SSL_R_UNSUPPORTED_PROTOCOL, "no common protocol version"},
    {SSL_R_VERSION_TOO_LOW, "no common protocol version"},
    {SSL_R_NO_PROTOCOLS_AVAILABLE, "no common protocol version"},
    {SSL_R_INAPPROPRIATE_FALLBACK, "no common protocol version"},
    {SSL_R_NO_SHARED_CIPHER, "no common cipher suite"},
    {SSL_R_NO_SUITABLE_KEY_SHARE, "no common curve"},
    {SSL_R_NO_SHARED_GROUPS, "no common curve"},
    {SSL_R_NO_APPLICATION_PROTOCOL, "no common application protocol"},
    {SSL_R_HTTP_REQUEST, "not TLS: looks like plain HTTP"},
    {SSL_R_HTTPS_PROXY_REQUEST, "not TLS: looks like plain HTTP"},
    {SSL_R_WRONG_VERSION_NUMBER, "not TLS"},
    {SSL_R_PACKET_LENGTH_TOO_LONG, "not TLS"},
};

/// OpenSSL reports a received alert as this base plus its number. Source: openssl/ssl.h.
constexpr int alert_base = SSL_AD_REASON_OFFSET;

/// OpenSSL 3.0 has no text for some alerts. Source: RFC 8446, section 6.
std::string alert_text(int alert) {
    if (alert == SSL_AD_CERTIFICATE_REQUIRED) return "certificate required";
    if (alert == SSL_AD_NO_APPLICATION_PROTOCOL) return "no application protocol";
    if (alert == SSL_AD_MISSING_EXTENSION) return "missing extension";
    return SSL_alert_desc_string_long(alert);
}

std::string text_of(int reason, unsigned long error) {
    for (const worded& each : words)
        if (each.reason == reason) return std::string{each.text};
    if (reason >= alert_base && reason < alert_base + 256)
        return "told by the peer: " + alert_text(reason - alert_base);
    const char* const text = ERR_reason_error_string(error);
    return text != nullptr ? text : "error " + std::to_string(error);
}

}  // namespace

std::string name_in(X509* certificate) {
    const names_ptr names = alternative_names(certificate);
    for (const int kind : {GEN_DNS, GEN_URI, GEN_EMAIL})
        if (std::string found = first_of(names.get(), kind); !found.empty()) return found;
    return common_name(certificate);
}

bool has_any_name(X509* certificate, const std::vector<std::string>& of) {
    const names_ptr names = alternative_names(certificate);
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const std::string text = text_of(sk_GENERAL_NAME_value(names.get(), i));
        if (!text.empty() && std::find(of.begin(), of.end(), text) != of.end()) return true;
    }
    return false;
}

std::string subject_of(X509* certificate) {
    const bio_ptr text{BIO_new(BIO_s_mem())};
    if (!text) return {};
    X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_UTF8_CONVERT);
    char* start = nullptr;
    const long size = BIO_get_mem_data(text.get(), &start);
    return size > 0 ? std::string{start, static_cast<std::size_t>(size)} : std::string{};
}

std::string take_openssl_error() {
    const unsigned long error = ERR_get_error();
    ERR_clear_error();
    return error == 0 ? "unknown error" : text_of(ERR_GET_REASON(error), error);
}

std::string failure_of(const SSL* of) {
    const unsigned long error = ERR_peek_error();
    const int reason = ERR_GET_REASON(error);
    std::string text = take_openssl_error();
    if (ERR_GET_LIB(error) != ERR_LIB_SSL || reason != SSL_R_CERTIFICATE_VERIFY_FAILED) return text;
    const long verified = SSL_get_verify_result(of);
    if (verified == X509_V_ERR_APPLICATION_VERIFICATION) return "no allowed name in the client certificate";
    return X509_verify_cert_error_string(verified);
}

}  // namespace seriesgate
