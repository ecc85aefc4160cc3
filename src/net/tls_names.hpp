/// Whom a certificate names.
#pragma once

#include <openssl/x509.h>

#include <string>
#include <vector>

namespace seriesgate {

/// The first DNS name of subjectAltName, or else its first URI, its first email address, or the subject's common name;
/// empty if there is none. Names with bytes that are not printable ASCII are none: they end up in logs.
[[nodiscard]] std::string name_in(X509* certificate);

/// Whether one of subjectAltName's entries (DNS, URI, email or IP address) is one of these.
[[nodiscard]] bool has_any_name(X509* certificate, const std::vector<std::string>& of);

/// "CN=store.test,O=Example".
[[nodiscard]] std::string subject_of(X509* certificate);

}  // namespace seriesgate
