/// One worker's way to a backend of a store: POST with deadlines over kept-alive connections.
#pragma once

#include <chrono>
#include <optional>

#include "core/result.hpp"
#include "net/asio.hpp"
#include "net/socket.hpp"
#include "upstream/address_list.hpp"
#include "upstream/address_order.hpp"
#include "upstream/pool.hpp"
#include "upstream/request.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {

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
