/// One worker's way to an upstream: POST with deadlines over kept-alive connections.
#pragma once

#include <chrono>
#include <optional>

#include "config/config.hpp"
#include "core/result.hpp"
#include "net/asio.hpp"
#include "net/resolver.hpp"
#include "upstream/address_list.hpp"
#include "upstream/pool.hpp"
#include "upstream/request.hpp"
#include "upstream/upstream_health.hpp"
#include "upstream/upstream_metrics.hpp"

namespace seriesgate {

struct upstream_message;

/// An upstream is its addresses, the connections to it, and what is counted about both: who has several upstreams has
/// several of these. Threads: the one of its io_context.
class upstream_client {
    using time_limit = std::chrono::steady_clock::time_point;
    using outcome = result<upstream_answer, upstream_error>;

    net::io_context& io_;
    const upstream_config& settings_;
    const store_door& door_;
    upstream_metrics& metrics_;
    upstream_health& health_;
    name_resolver resolver_;
    address_list addresses_;
    connection_pool pool_;

  public:
    /// @param door one of the store's.
    /// @param health of the upstream, as all workers see it. What is passed must outlive it.
    upstream_client(net::io_context& io, const upstream_config& settings, const store_door& door,
                    upstream_metrics& metrics, upstream_health& health);

    /// Looks the upstream's name up if it is time to, and clears the pool of connections that nobody uses. Call it
    /// every second.
    void maintain();

    /// Whether there is an address to connect to: the upstream's name has been looked up with success. Threads: any.
    [[nodiscard]] bool started() const noexcept { return addresses_.has_any(); }

    /// One exchange, at most settings.timeout long. See retry.hpp for the one case in which it is tried again. Nothing
    /// of the request but its body is needed once this has returned what to wait for.
    net::awaitable<outcome> post(const upstream_request& request);

  private:
    address_list make_addresses();
    net::awaitable<outcome> send(upstream_message message);
    net::awaitable<void> wait_for_addresses(time_limit limit);
    net::awaitable<std::optional<upstream_error>> connect(timed_stream& stream, time_limit limit);
    void tell_of_lookup(error_code error);
    [[nodiscard]] upstream_error unresolved() const;
};

}  // namespace seriesgate
