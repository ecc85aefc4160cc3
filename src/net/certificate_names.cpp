#include "net/certificate_names.hpp"

#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "core/sender_address.hpp"
#include "net/openssl.hpp"

namespace seriesgate {
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

}  // namespace seriesgate
