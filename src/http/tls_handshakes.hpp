/// TLS handshakes with senders, on an event loop of their own.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/log.hpp"
#include "http/connections.hpp"
#include "http/worker.hpp"
#include "net/tls_context.hpp"

namespace seriesgate {

/// A handshake takes milliseconds of CPU, and its peer may take seconds: so it is nobody's business who serves
/// requests. A connection comes here when it has been taken in, and goes to its front desk when TLS has begun.
///
/// How many there may be at once is the connection_registry's to bound, how long one may take server.handshakeTimeout.
class handshakes {
  public:
    /// The context of new connections; asked for each.
    using current_context = std::function<std::shared_ptr<const tls_context>()>;

    /// @param loop runs them, at the priority of those that serve, for it takes locks of theirs. It goes before this.
    handshakes(net::io_context& loop, http_shared& shared, current_context context)
        : io_(loop), shared_(shared), context_(std::move(context)) {}
    handshakes(const handshakes&) = delete;
    handshakes& operator=(const handshakes&) = delete;

    /// Takes one that has been admitted to a handshake. @param then where it is served. Threads: any.
    void take(sender_connection from, service& then);

  private:
    struct tls_handshake;

    net::awaitable<void> shake(sender_connection from, service& then);
    /// @return nothing if it comes to no TLS.
    net::awaitable<std::optional<sender_connection>> secure(sender_connection from);
    void tell(handshake_outcome outcome, std::string_view peer, std::string_view why);

    net::io_context& io_;
    http_shared& shared_;
    const current_context context_;
    throttled_logs<handshake_outcome> logs_{};
};

}  // namespace seriesgate
