/// Who a certificate names: the user of a client's certificate, and the names that a gate allows.
#pragma once

#include <openssl/x509.h>

#include <string>
#include <vector>

namespace seriesgate {

/// The first DNS name of subjectAltName; else its first URI, its first email address, or the subject's common name;
/// else empty. Ignores names with other bytes than printable ASCII, since names appear in logs.
[[nodiscard]] std::string name_in(X509* certificate);

/// Whether subjectAltName has an entry (DNS, URI, email or IP address) in `of`.
[[nodiscard]] bool has_any_name(X509* certificate, const std::vector<std::string>& of);

[[nodiscard]] std::string subject_of(X509* certificate);

}  // namespace seriesgate
