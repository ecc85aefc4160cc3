/// One worker's clients of the replicas: sends them copies of requests, and waits for the required ones.
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

/// The answers of the required replicas, while the request waits for them.
struct expected_answers;

/// Threads: the worker's.
class replication {
    net::io_context& io_;
    shared_stores& shared_;
    const std::string& tenant_header_;
    std::deque<store_client> clients_;
    std::size_t waited_for_ = 0;

  public:
    using expected = std::shared_ptr<expected_answers>;

    /// @param tenant_header name of the header. The arguments must outlive this object.
    replication(net::io_context& io, shared_stores& shared, const std::string& tenant_header);

    /// Call it every second.
    void maintain();
    /// Whether each required replica's name has an address.
    [[nodiscard]] bool ready() const noexcept;
    [[nodiscard]] bool is_empty() const noexcept { return clients_.empty(); }

    [[nodiscard]] std::size_t waited_for() const noexcept { return waited_for_; }

    /// Sends the request to all replicas at once, without the sender's address and credentials. Needs only the body of
    /// `of` afterwards.
    /// @return the answers to wait for.
    expected begin(const upstream_request& of, const outgoing& sent);

    /// @return the answers of the required replicas; where one gave none, the gate's own answer stands in.
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
