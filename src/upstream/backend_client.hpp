/// One worker's client of one backend: POST with time limits over kept-alive connections.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "core/result.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"
#include "net/timed_stream.hpp"
#include "upstream/address_list.hpp"
#include "upstream/request.hpp"
#include "upstream/shared_store.hpp"
#include "upstream/upstream_health.hpp"

namespace seriesgate {

// --- Kept-alive connections.

/// An open connection, counted in a gauge for as long as it lives.
class upstream_connection {
  public:
    timed_stream stream;
    stream_endpoint at{};                      ///< the address, once connected
    std::shared_ptr<const tls_context> tls{};  ///< null for a plain connection

    upstream_connection(stream_socket opened, gauge& open) : stream(std::move(opened)), open_(open) {}

  private:
    gauge_hold open_;  // after the stream, so that a failed construction is not counted
};

/// Idle connections. Last in, first out, so that connections which quiet times do not need grow old and are closed.
/// Idle ones have no time limit and no pending operation. Threads: the worker's.
class connection_pool {
  public:
    using clock = monotonic_clock;

    /// More simultaneous requests than this open and close their own connections.
    static constexpr std::size_t idle_max = 256;

  private:
    struct idle {
        upstream_connection connection;
        clock::time_point since;
    };
    std::vector<idle> idle_;  // oldest first

  public:
    /// The youngest connection that is still quiet. Data or an end on an idle connection makes it useless: the upstream
    /// has closed it, or sent an answer without a request. Some servers send 408 before they close.
    std::optional<upstream_connection> take() {
        while (!idle_.empty()) {
            std::optional<upstream_connection> taken{std::move(idle_.back().connection)};
            idle_.pop_back();
            assert(!taken->stream.has_limit());
            if (taken->stream.is_quiet()) return taken;
        }
        return std::nullopt;
    }

    void give(upstream_connection connection, clock::time_point now = clock::now()) {
        assert(idle_.empty() || idle_.back().since <= now);
        connection.stream.forget_limit();
        if (idle_.size() < idle_max) idle_.push_back({std::move(connection), now});
    }

    void close_idle(clock::duration age, clock::time_point now = clock::now()) {
        std::erase_if(idle_, [limit = now - age](const idle& each) { return each.since < limit; });
    }

    /// Closes connections to other addresses, unless none is known, and those with an outdated TLS context.
    void close_others(const std::vector<stream_endpoint>& known, const std::shared_ptr<const tls_context>& tls) {
        std::erase_if(idle_, [&](const idle& each) {
            const bool is_known = std::find(known.begin(), known.end(), each.connection.at) != known.end();
            return each.connection.tls != tls || !(is_known || known.empty());
        });
    }

    [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }
};

// --- Retries. They belong to the sender, except in one case.

enum class connection_origin : std::uint8_t { opened, pooled };

enum class attempt_end : std::uint8_t {
    answered,
    timed_out,    ///< whether or not an answer had begun
    unread,       ///< connection broke before an answer; the request surely did not arrive whole
    unanswered,   ///< connection broke before an answer; the request may have arrived
    broken_amid,  ///< connection broke within an answer
    invalid,      ///< the peer sent something other than an answer
};

/// Decides whether to send again. A pooled connection may have been closed unnoticed. Then the upstream's FIN, which
/// does not acknowledge the request, comes before its reset: the store has not seen the request. Only then, or if the
/// request could not be written whole, it is sent once more, on a new connection. A store killed by the request has
/// read all of it and may have stored it; after a reset without a FIN the outcome is unknown.
/// @return why there is no answer; nothing for another attempt.
/// Source: RFC 9112, section 9.3.1.
constexpr std::optional<upstream_error_reason> reason_to_give_up(attempt_end end, connection_origin origin) noexcept {
    if (end == attempt_end::timed_out) return upstream_error_reason::timeout;
    if (end == attempt_end::invalid) return upstream_error_reason::invalid_answer;
    if (end == attempt_end::unread && origin == connection_origin::pooled) return std::nullopt;
    return upstream_error_reason::connection_lost;
}

// --- One attempt.

struct attempt {
    attempt_end end = attempt_end::unanswered;
    std::string why;  ///< the error: the system's text, or what came; empty after a timeout
    upstream_answer answer;
    bool reusable = false;    ///< the connection can take another request
    bool tls_failed = false;  ///< TLS itself failed, not only the connection
};

/// Sends the message and reads the answer, until `limit` at most. An answer that is there while the message is not all
/// written then has 100 ms more.
/// @param stream connected. All arguments must outlive the exchange.
net::awaitable<attempt> exchange(timed_stream& stream, const upstream_message& message,
                                 std::chrono::steady_clock::time_point limit);

struct exchange_limits {
    std::chrono::steady_clock::duration connect;   ///< for a connection, over all addresses
    std::chrono::steady_clock::time_point answer;  ///< until the answer is complete
};

/// Connects to a backend and sends requests. Threads: that of its io_context.
class backend_client {
    using time_limit = std::chrono::steady_clock::time_point;
    using outcome = result<upstream_answer, upstream_error>;
    using fault = std::optional<upstream_error>;

    net::io_context& io_;
    shared_store& store_;
    shared_backend& backend_;
    name_resolver resolver_;
    address_list addresses_;
    address_order order_;
    connection_pool pool_;

  public:
    /// @param backend one of the store's. Both must outlive this object.
    backend_client(net::io_context& io, shared_store& store, shared_backend& backend);

    /// Looks the backend's name up if that is due. Closes connections that are idle for long or lead to old addresses.
    /// Call it every second.
    void maintain();

    /// Whether an address is known. Threads: any.
    [[nodiscard]] bool started() const noexcept { return addresses_.has_any(); }

    /// One exchange; reason_to_give_up() names the one case of a second try.
    /// @param message must outlive it.
    net::awaitable<outcome> send(const upstream_message& message, exchange_limits limits);

    /// Connects, and closes the connection again, to probe the backend. @return the error, if it failed.
    net::awaitable<std::optional<upstream_error>> probe(time_limit limit);

  private:
    address_list make_addresses();
    net::awaitable<fault> connect_to(upstream_connection& connection, const stream_endpoint& to, time_limit limit);
    net::awaitable<fault> connect(upstream_connection& connection, time_limit limit);
    void keep(upstream_connection connection);
    [[nodiscard]] std::shared_ptr<const tls_context> tls() const;
    void log_lookup(error_code error);
    [[nodiscard]] upstream_error unresolved() const;
};

}  // namespace seriesgate
