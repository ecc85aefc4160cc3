/// Sends a request to the upstream and its replicas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "http/route_table.hpp"
#include "ingest/ingest_shared.hpp"
#include "ingest/outgoing.hpp"
#include "ingest/replication.hpp"
#include "net/async.hpp"
#include "upstream/store_client.hpp"

namespace seriesgate {

/// One worker's way to the upstream. Threads: the worker's.
class forwarder {
    ingest_shared& shared_;
    const config& settings_;
    std::optional<store_client> store_;  // empty with `discard:`
    std::optional<replication> replicas_;

  public:
    forwarder(net::io_context& io, ingest_shared& shared);

    /// Call it every second.
    void maintain();
    /// See ingestor::ready().
    [[nodiscard]] bool ready() const noexcept;

    /// Reserves memory of server.maxInflightBytes for the headers that replicas copy, until the request ends.
    [[nodiscard]] bool take_room(const http_request& of) const;

    /// Sends the request to all stores. With `discard:` it answers 204.
    /// @return the agreed answer; where a store gave none, the gate's own answer stands in.
    net::awaitable<reply> send(const http_request& from, const outgoing& sent);

    /// Forwards an older vmagent's question whether zstd is understood. The gate never changes the compression format,
    /// so the store decides.
    net::awaitable<reply> ask_for_zstd(const http_request& from);

  private:
    [[nodiscard]] upstream_request request_of(const http_request& from, std::string_view query) const;
    net::awaitable<reply> post(const http_request& from, const upstream_request& message);
    reply failed(const http_request& from, const upstream_error& error);
    reply answered(upstream_answer answer);
    void count_answer(const http_request& from, const reply& answer);
    std::string query_of(const http_request& from);
};

/// Whether the request is that question: an empty body and get_vm_proto_version=1.
bool asks_for_zstd(const http_request& request);

}  // namespace seriesgate
