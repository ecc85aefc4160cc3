/// One worker's client of a store with one or several backends.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "core/result.hpp"
#include "net/async.hpp"
#include "upstream/backend_client.hpp"
#include "upstream/load_balancing.hpp"
#include "upstream/request.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {

/// Chooses a backend for each request, and another one if the first has certainly not worked on it. Otherwise the
/// sender gets an error and decides about a retry, so that the gate never duplicates data. Threads: that of its
/// io_context.
class store_client {
    using clock = monotonic_clock;

    net::io_context& io_;
    shared_store& shared_;
    std::deque<backend_client> backends_;
    std::shared_ptr<backend_slots> slots_;

  public:
    using outcome = result<upstream_answer, upstream_error>;

    /// @param shared must outlive this object.
    store_client(net::io_context& io, shared_store& shared);

    /// Looks names up, closes idle connections and probes ejected backends. Call it every second.
    void maintain();

    /// Whether a backend has an address to connect to. Threads: any.
    [[nodiscard]] bool started() const noexcept;

    /// Takes at most upstream.timeout, including the wait for a connection. Copies all of the request but its body
    /// before it returns.
    net::awaitable<outcome> post(const upstream_request& request);

    [[nodiscard]] shared_store& shared() const noexcept { return shared_; }

  private:
    net::awaitable<outcome> send(upstream_message message, std::optional<backend_slot> slot, clock::time_point limit);
    net::awaitable<outcome> send_to(const backend_slot& slot, const upstream_message& message, clock::time_point limit,
                                    std::size_t backends_left);
    net::awaitable<void> probe(std::size_t index);
};

}  // namespace seriesgate
