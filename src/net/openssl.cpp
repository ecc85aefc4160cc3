#include "net/openssl.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <string_view>
#include <utility>

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
