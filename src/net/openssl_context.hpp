/// What a tls_context is made of, for the sources that make TLS and no others.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "net/openssl_pointers.hpp"
#include "net/tls_settings.hpp"
#include "net/tls_tickets.hpp"

namespace seriesgate {

struct openssl_context {
    tls_role role;
    client_certificates clients;
    std::vector<std::string> client_names;
    std::string subject;
    std::optional<std::chrono::system_clock::time_point> not_after;
    tls_tickets tickets;  // a client's
    ssl_context_ptr ssl;

    /// Whether a client's certificate, if there is one, has been verified.
    [[nodiscard]] bool verifies_clients() const noexcept {
        return clients == client_certificates::verify_if_given || clients == client_certificates::require_and_verify;
    }
};

}  // namespace seriesgate
