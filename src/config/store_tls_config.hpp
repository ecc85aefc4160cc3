#pragma once

#include <string>

namespace seriesgate {

/// How a store proves who it is, and we to it. Paths of PEM files.
struct store_tls_config {
    std::string ca_file;      ///< empty: the system's authorities
    std::string cert_file;    ///< ours; empty: none
    std::string key_file;     ///< belongs to cert_file
    std::string server_name;  ///< that the certificate has to have; empty: the URL's host

    bool operator==(const store_tls_config&) const = default;
};

}  // namespace seriesgate
