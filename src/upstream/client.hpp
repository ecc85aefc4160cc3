/// One worker's way to a backend of a store: POST with deadlines over kept-alive connections.
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
#include "net/asio.hpp"
#include "net/socket.hpp"
#include "net/timed_stream.hpp"
#include "upstream/address_list.hpp"
#include "upstream/request.hpp"
#include "upstream/shared_store.hpp"
#include "upstream/upstream_health.hpp"

namespace seriesgate {

// --- Kept-alive connections of one worker to an upstream.

/// An open connection that counts in a gauge for as long as it lives.
class upstream_connection {
    struct release {
        void operator()(gauge* open) const noexcept {
            assert(open->value() > 0);
            open->sub();
        }
    };

  public:
    timed_stream stream;
    stream_endpoint at{};                      ///< where it leads, once it is connected
    std::shared_ptr<const tls_context> tls{};  ///< what its TLS was made with; nothing for a plain one

    upstream_connection(stream_socket opened, gauge& open) : stream(std::move(opened)), open_(&open) { open.add(); }

  private:
    std::unique_ptr<gauge, release> open_;  // after the stream: what could not be made is not counted
};

/// Last in, first out, so that connections which a quieter time does not need grow old and are closed. What is in it
/// has no time limit, and nothing pending. Threads: the worker's.
class connection_pool {
  public:
    using clock = monotonic_clock;

    /// More requests at once than this open and close their connections.
    static constexpr std::size_t idle_max = 256;

  private:
    struct idle {
        upstream_connection connection;
        clock::time_point since;
    };
    std::vector<idle> idle_;  // oldest first

  public:
    /// The youngest connection that is still quiet. Nothing may come on an idle connection: an end means that the
    /// upstream has closed it; bytes would be an answer that nobody asked for (some servers say 408 before they close),
    /// to be taken for the next request's.
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

    /// Closes what has been idle for longer than `age`.
    void close_idle(clock::duration age, clock::time_point now = clock::now()) {
        const auto limit = now - age;
        std::size_t old = 0;
        while (old < idle_.size() && idle_[old].since < limit) ++old;
        idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(old));
    }

    /// Closes what shows another certificate than new connections do, or believes others.
    void close_made_with_others(const std::shared_ptr<const tls_context>& tls) {
        std::erase_if(idle_, [&](const idle& each) { return each.connection.tls != tls; });
    }

    /// Closes what leads to none of these addresses.
    void close_others(const std::vector<stream_endpoint>& known) {
        std::erase_if(idle_, [&](const idle& each) {
            return std::find(known.begin(), known.end(), each.connection.at) == known.end();
        });
    }

    [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }
};

// --- When a request is sent again. Retries belong to the sender, but for one case.

enum class connection_origin : std::uint8_t { opened, pooled };

/// How one try on one connection ended; what breaks is the connection.
enum class attempt_end : std::uint8_t {
    answered,     ///< with a full answer
    timed_out,    ///< whether or not an answer had begun
    unread,       ///< it broke before the first byte of an answer, and the request surely had not all arrived
    unanswered,   ///< it broke likewise, and the request may have arrived
    broken_amid,  ///< it broke amid an answer
    invalid,      ///< something came that is no answer
};

/// A connection out of the pool may have been closed while nobody looked: then the end that the upstream has sent comes
/// before the reset that the request is answered with, and that end does not confirm the request: nobody has worked on
/// it. Only then, or if it could not all be written, it is sent again, once, for the next connection is a new one. A
/// store that was killed over the request has got all of it, and may have stored it; and after a reset without an end
/// nobody can tell.
/// @return why there is no answer; nothing for another try.
/// Source: RFC 9112, section 9.3.1.
constexpr std::optional<upstream_error_reason> reason_to_give_up(attempt_end end, connection_origin origin) noexcept {
    switch (end) {
        case attempt_end::timed_out:
            return upstream_error_reason::timeout;
        case attempt_end::invalid:
            return upstream_error_reason::invalid_answer;
        case attempt_end::unread:
            if (origin == connection_origin::pooled) return std::nullopt;
            break;
        default:
            break;
    }
    return upstream_error_reason::connection_lost;
}

// --- One request and its answer on one connection.

struct attempt {
    attempt_end end = attempt_end::unanswered;
    std::string why;          ///< it is not answered: what the system says, or what came; empty if its time was over
    upstream_answer answer;   ///< if it is answered
    bool reusable = false;    ///< the connection, for another request
    bool tls_failed = false;  ///< it is TLS that has failed, and says why; not only a connection that was cut off
};

/// Sends and reads until there is an answer, at most until the limit.
/// @param stream connected; everything given must outlive the exchange.
net::awaitable<attempt> exchange(timed_stream& stream, const upstream_message& message,
                                 std::chrono::steady_clock::time_point limit);

struct upstream_message;

struct exchange_limits {
    std::chrono::steady_clock::duration connect;   ///< for a connection, however many addresses there are
    std::chrono::steady_clock::time_point answer;  ///< until it is there
};

/// Its addresses, and the connections to them. Threads: the one of its io_context.
class upstream_client {
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
    /// @param backend one of the store's. Both must outlive it.
    upstream_client(net::io_context& io, shared_store& store, shared_backend& backend);

    /// Looks the backend's name up if it is time to, and clears the pool of connections that nobody uses, or that lead
    /// to addresses which the name has no more. Call it every second.
    void maintain();

    /// Whether there is an address to connect to: the backend's name has been looked up with success. Threads: any.
    [[nodiscard]] bool started() const noexcept { return addresses_.has_any(); }

    /// One exchange. See retry.hpp for the one case in which it is tried again.
    /// @param message must outlive it.
    net::awaitable<outcome> send(const upstream_message& message, exchange_limits limits);

    /// Connects, and closes the connection again.
    /// @return why there is none.
    net::awaitable<std::optional<upstream_error>> look(time_limit limit);

  private:
    address_list make_addresses();
    net::awaitable<void> wait_for_addresses(time_limit limit);
    net::awaitable<fault> secure(upstream_connection& connection, const stream_endpoint& to);
    net::awaitable<fault> connect_to(upstream_connection& connection, const stream_endpoint& to, time_limit limit);
    net::awaitable<fault> connect(upstream_connection& connection, time_limit limit);
    void keep(upstream_connection connection);
    [[nodiscard]] std::shared_ptr<const tls_context> tls() const;
    void tell_of_lookup(error_code error);
    [[nodiscard]] upstream_error not_connected(const stream_endpoint& to, error_code error) const;
    [[nodiscard]] upstream_error unresolved() const;
};

}  // namespace seriesgate
