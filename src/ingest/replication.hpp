/// One worker's way to the stores that get what the first one gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "http/route_table.hpp"
#include "ingest/outgoing.hpp"
#include "ingest/stores.hpp"
#include "net/asio.hpp"
#include "upstream/store_client.hpp"

namespace seriesgate {

/// What the stores that have to have a request make of it, while somebody waits.
struct expected_answers;

/// Threads: the worker's.
class replication {
    net::io_context& io_;
    shared_stores& shared_;
    const std::string& tenant_header_;
    std::deque<store_client> clients_;  // of shared_.replicas, in their order
    std::size_t waited_for_ = 0;

  public:
    using expected = std::shared_ptr<expected_answers>;

    /// @param tenant_header its name. What is passed must outlive it.
    replication(net::io_context& io, shared_stores& shared, const std::string& tenant_header);

    /// Call it every second.
    void maintain();
    /// See relay.
    [[nodiscard]] bool ready() const noexcept;
    [[nodiscard]] bool is_empty() const noexcept { return clients_.empty(); }

    /// How many have to have each request.
    [[nodiscard]] std::size_t waited_for() const noexcept { return waited_for_; }

    /// Sends a request to all of them at once, without what shows the sender to the first store. Nothing of it but its
    /// body is needed afterwards.
    /// @return what to wait for.
    expected begin(const upstream_request& of, const outgoing& sent);

    /// @return the answers of those that have to have it, or what is said in their place.
    net::awaitable<std::vector<reply>> wait(expected of);

  private:
    net::awaitable<void> ask(std::size_t index, net::awaitable<store_client::outcome> answer, outgoing sent,
                             expected to);
    net::awaitable<void> copy(std::size_t index, net::awaitable<store_client::outcome> answer, outgoing sent,
                              std::int64_t bytes);
    void begin_copy(std::size_t index, const upstream_request& request, const outgoing& sent);
    reply take(shared_replica& from, store_client::outcome got, const outgoing& sent);
};

}  // namespace seriesgate
