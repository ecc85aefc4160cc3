/// Sends a request to the replicas, and makes one answer of all stores' answers.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "http/route_table.hpp"
#include "ingest/ingest_shared.hpp"
#include "ingest/outgoing.hpp"
#include "net/async.hpp"
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
    net::awaitable<void> ask(std::size_t index, std::size_t place, net::awaitable<store_client::outcome> answer,
                             outgoing sent, expected to);
    expected begin_copy(shared_replica& replica, const upstream_request& request, const outgoing& sent);
    reply take(shared_replica& from, store_client::outcome got, const outgoing& sent);
};

// --- One answer from several stores.

/// Chooses the answer that the sender gets. A retriable error (5xx, 429) of any store wins, so that the sender retries
/// while some store may still accept the data. Then other errors, the first store's before those of replicas. The
/// remote write 2 counts become the least of all stores, or go away if one store sent none.
/// @param others answers of the required replicas, those without bestEffort.
reply agreed_answer(reply first, std::vector<reply> others);

}  // namespace seriesgate
