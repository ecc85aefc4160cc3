/// One worker's way to the upstream: POST with deadlines over kept-alive connections.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "core/bytes.hpp"
#include "core/result.hpp"
#include "net/asio.hpp"
#include "upstream/pool.hpp"
#include "upstream/upstream_metrics.hpp"

namespace seriesgate {

/// What to send. Everything must outlive the exchange.
struct upstream_request {
    const http::fields& headers;     ///< the sender's, as they came
    std::string_view tenant_header;  ///< its name
    std::string_view query;          ///< what of the sender's query string goes on, without '?'; may be empty
    bytes_view body;
    bool body_changed = false;  ///< not the sender's own bytes
    bool translated = false;    ///< the sender wrote version 2, the body is version 1
};

/// What came back. The body is cut after response_bytes_max.
struct upstream_answer {
    unsigned status = 0;
    http::fields headers;  ///< as they came
    std::string body;
};

/// Stores answer with an empty body or some error lines; senders read 1 KiB of it.
inline constexpr std::size_t response_bytes_max = 256 * 1024;

/// Threads: the one of its io_context.
class upstream_client {
    using time_limit = std::chrono::steady_clock::time_point;

    const upstream_config& settings_;
    upstream_metrics& metrics_;
    tcp::resolver resolver_;
    bool resolving_ = false;
    std::atomic<bool> resolve_ended_{false};  ///< the first attempt at least
    time_limit resolve_due_{};
    std::vector<tcp::endpoint> endpoints_;
    connection_pool pool_;

  public:
    upstream_client(net::io_context& io, const upstream_config& settings, upstream_metrics& metrics);

    /// Resolves the upstream's name now and then, and clears the pool of connections that nobody uses. Runs until the
    /// io_context stops; spawn it once.
    net::awaitable<void> maintain();

    /// Whether the upstream's name has been looked up, with or without success. Threads: any.
    [[nodiscard]] bool started() const noexcept { return resolve_ended_; }

    /// One exchange, at most settings.timeout long. A pooled connection that turns out to be closed before the
    /// first byte of an answer is replaced once; nothing else is retried: retries belong to the sender.
    net::awaitable<result<upstream_answer, upstream_error_reason>> post(upstream_request request);

  private:
    struct attempt;

    void resolve();
    net::awaitable<void> wait_for_addresses(time_limit limit);
    net::awaitable<bool> connect(timed_stream& stream, time_limit limit);
    net::awaitable<attempt> exchange(timed_stream& stream, const upstream_request& request, time_limit limit);
};

}  // namespace seriesgate
