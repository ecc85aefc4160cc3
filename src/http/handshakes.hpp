/// PROXY headers and TLS handshakes, on an event loop of their own, before a connection is served.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/log.hpp"
#include "http/connections.hpp"
#include "http/http_metrics.hpp"
#include "http/worker.hpp"
#include "net/async.hpp"
#include "net/http_messages.hpp"
#include "net/tls_files.hpp"

namespace seriesgate {

enum class proxy_header_rule : std::uint8_t {
    ignored,   ///< the listener does not have the protocol
    required,  ///< from a trusted proxy
    refused,   ///< from anybody else
};

/// Reads PROXY headers and runs TLS handshakes, away from the serving threads: a handshake takes milliseconds of CPU,
/// and its peer may take seconds. A registered connection comes here first, and then goes to its service. The
/// connection_registry bounds their number, server.handshakeTimeout their duration, header included.
class handshakes {
  public:
    /// @param loop is destroyed first. Its thread needs normal priority, because it takes locks of the serving threads.
    /// @param files null: no TLS, only headers.
    handshakes(net::io_context& loop, http_shared& shared, const tls_files* files)
        : io_(loop), shared_(shared), files_(files) {}

    [[nodiscard]] bool has_tls() const noexcept { return files_ != nullptr; }

    /// @param from admitted in the stage tls_handshake. @param then serves it afterwards. Threads: any.
    void take(sender_connection from, service& then, proxy_header_rule rule);

  private:
    net::awaitable<void> shake(sender_connection from, service& then, proxy_header_rule rule);
    net::awaitable<bool> take_proxy_header(leased_stream& from, flat_buffer& begin, bool is_required);
    net::awaitable<std::optional<sender_connection>> secure(leased_stream& one);
    void log_outcome(handshake_outcome outcome, std::string_view peer, std::string_view why);
    void log_outcome(proxy_header_outcome outcome, std::string_view peer);

    net::io_context& io_;
    http_shared& shared_;
    const tls_files* const files_;
    throttled_logs<handshake_outcome> logs_{};
    throttled_logs<proxy_header_outcome> header_logs_{};
};

}  // namespace seriesgate
