/// Between a request and the upstream: what of it goes there, and what comes back.
#pragma once

#include "config/config.hpp"
#include "http/http_request.hpp"
#include "http/reply.hpp"
#include "ingest/ingest_logs.hpp"
#include "ingest/ingest_metrics.hpp"
#include "ingest/outgoing.hpp"
#include "net/asio.hpp"
#include "upstream/client.hpp"
#include "upstream/upstream_metrics.hpp"

namespace seriesgate {

/// Threads: the worker's.
class relay {
    const config& settings_;
    ingest_metrics& metrics_;
    upstream_metrics& upstream_metrics_;
    ingest_logs& logs_;
    upstream_client upstream_;

  public:
    relay(net::io_context& io, const config& settings, ingest_metrics& metrics, upstream_metrics& upstream,
          ingest_logs& logs);

    /// See ingestor.
    net::awaitable<void> maintain() { return upstream_.maintain(); }
    [[nodiscard]] bool ready() const noexcept { return settings_.upstream.discard || upstream_.started(); }

    /// @return the upstream's answer, or what is said in its place; with `discard:` a success.
    net::awaitable<reply> send(const http_request& from, const outgoing& sent);

    /// Asks on behalf of an older vmagent whether zstd is understood. Bodies go to the store as they are compressed, so
    /// it is the store's to say.
    net::awaitable<reply> ask_for_zstd(const http_request& from);

  private:
    net::awaitable<reply> post(const upstream_request& message);
    reply failed(upstream_error_reason reason);
    std::string query_of(const http_request& from);
};

/// Whether this is that question: an empty body with get_vm_proto_version=1.
bool asks_for_zstd(const http_request& request);

}  // namespace seriesgate
