/// TLS terms shared by configuration and connections.
#pragma once

#include <cstdint>

namespace seriesgate {

/// Older versions are not offered.
enum class tls_version : std::uint8_t { v1_2, v1_3 };

/// A server's demand for client certificates. Source: Go's crypto/tls, ClientAuthType, whose names Prometheus' files
/// use.
enum class client_certificates : std::uint8_t {
    none,                ///< NoClientCert
    request,             ///< RequestClientCert: asked for, nothing is checked
    require_any,         ///< RequireAnyClientCert: must exist, nothing else is checked
    verify_if_given,     ///< VerifyClientCertIfGiven
    require_and_verify,  ///< RequireAndVerifyClientCert
};

}  // namespace seriesgate
