/// TLS handshakes with senders, on a thread of their own.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string_view>

#include "http/connections.hpp"
#include "http/service.hpp"
#include "log/sparse_log.hpp"
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

    handshakes(http_shared& shared, current_context context) : self_(shared), context_(std::move(context)) {}
    handshakes(const handshakes&) = delete;
    handshakes& operator=(const handshakes&) = delete;

    /// Takes one that has been admitted to a handshake. @param then where it is served. Threads: any.
    void take(sender_connection from, service& then);

    /// Runs until stop(), with a lower priority than those that serve. Threads: one, its own.
    void run();
    void stop() { self_.io.stop(); }  ///< Threads: any.

    /// Its thread, for senders to be hurried while the gate drains.
    [[nodiscard]] worker& thread() noexcept { return self_; }

  private:
    struct shaking;

    net::awaitable<void> shake(sender_connection from, service& then);
    void tell(handshake_outcome outcome, std::string_view peer, std::string_view why);

    worker self_;
    const current_context context_;
    std::array<sparse_log, counter_by<handshake_outcome>::size> logs_{};
};

}  // namespace seriesgate
