/// Shared settings of all TLS connections of one side: certificates, trust, versions.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "net/tls_settings.hpp"

namespace seriesgate {

struct openssl_context;  // see net/openssl.hpp

/// Made once for many connections. Session tickets end with it. Clients that must show a certificate get none, so each
/// connection proves the certificate again. Threads: any.
class tls_context {
  public:
    explicit tls_context(std::unique_ptr<openssl_context> made) noexcept;
    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;
    ~tls_context();

    [[nodiscard]] tls_role role() const noexcept;
    /// Subject and end of our own certificate; empty and nothing without one. It may have expired: the peer decides.
    [[nodiscard]] const std::string& subject() const noexcept;
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> not_after() const noexcept;

    [[nodiscard]] openssl_context& own() const noexcept { return *state_; }

  private:
    std::unique_ptr<openssl_context> state_;
};

/// @return the error: it names the wrong setting without its content.
[[nodiscard]] result<std::shared_ptr<const tls_context>, std::string> make_tls_context(const tls_settings& settings);

}  // namespace seriesgate
