/// Words for TLS that a configuration and a connection have in common.
#pragma once

#include <cstdint>

namespace seriesgate {

/// Older ones are not offered.
enum class tls_version : std::uint8_t { v1_2, v1_3 };

/// What a server asks of its clients. Source: Go's crypto/tls, ClientAuthType, whose names Prometheus' files use.
enum class client_certificates : std::uint8_t {
    none,                ///< NoClientCert
    request,             ///< RequestClientCert: asked for, and nothing is checked
    require_any,         ///< RequireAnyClientCert: nothing is checked but that there is one
    verify_if_given,     ///< VerifyClientCertIfGiven
    require_and_verify,  ///< RequireAndVerifyClientCert
};

}  // namespace seriesgate
