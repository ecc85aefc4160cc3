/// What the TLS connections of one side have in common: certificates, whom to trust, what is spoken.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "net/tls_settings.hpp"

namespace seriesgate {

struct openssl_context;  // see net/openssl_context.hpp

/// Made once for many connections. Tickets for resumed sessions live and die with it, and are not given to clients that
/// have to show a certificate: each connection of theirs is to prove it. Threads: any.
class tls_context {
  public:
    explicit tls_context(std::unique_ptr<openssl_context> made) noexcept;
    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;
    ~tls_context();

    [[nodiscard]] tls_role role() const noexcept;
    /// Of our own certificate; empty and nothing without one. It may have expired: whether to use it is the peer's say.
    [[nodiscard]] const std::string& subject() const noexcept;
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> not_after() const noexcept;

    [[nodiscard]] openssl_context& own() const noexcept { return *state_; }

  private:
    std::unique_ptr<openssl_context> state_;
};

/// @return why not, in words that name what is wrong with which of the settings, and nothing of what they say.
[[nodiscard]] result<std::shared_ptr<const tls_context>, std::string> make_tls_context(const tls_settings& settings);

}  // namespace seriesgate
