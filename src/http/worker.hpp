/// One thread's belongings: what a session may reach.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <chrono>
#include <string>
#include <variant>

#include "admin/desk.hpp"
#include "admin/page.hpp"
#include "config/config.hpp"
#include "http/connections.hpp"
#include "http/inflight.hpp"
#include "http/rejection_log.hpp"
#include "http/sender_streams.hpp"
#include "http/sparse_log.hpp"
#include "limit/limiter.hpp"
#include "metrics/metrics.hpp"
#include "plan/plan.hpp"
#include "upstream/client.hpp"
#include "wire/compression.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

/// What came of reading the configuration again.
struct reload_outcome {
    bool ok = false;
    std::string text;  ///< lines: what is wrong, or what was taken over
};

using page_desk = desk<page_key, page_text>;
using reload_desk = desk<std::monostate, reload_outcome>;

/// What all workers share. Everything in it may be used by any thread at any time.
struct shared_state {
    const config& settings;
    series_limiter& limiter;
    gate_metrics& metrics;
    const hash_key& key;
    std::chrono::steady_clock::time_point started;
    inflight_room inflight{metrics.inflight_bytes, settings.server.inflight_bytes_max,
                           settings.server.decoded_bytes_max};
    page_desk pages{};      ///< see make_pages()
    reload_desk reloads{};  ///< of the configuration
    rejection_log rejections{};
    sparse_log refusals{};
    sparse_log upstream_failures{};
    std::atomic_flag unconfirmed_told{};
    std::atomic_flag query_told{};
    std::atomic<bool> ready{false};
    std::atomic<bool> draining{false};
};

/// The wall clock as the core wants it.
inline time_point wall_clock_now() {
    return std::chrono::time_point_cast<time_point::duration>(std::chrono::system_clock::now());
}

/// One thread, one io_context, its own connections to the upstream and its own buffers. A session never leaves it.
/// Threads: everything but `io` belongs to the thread that runs `io`.
struct worker {
    // First, so that they are destroyed last: the frames of unfinished sessions go with `io` and use nothing else.
    sender_streams senders;
    net::io_context io{1};
    net::executor_work_guard<net::io_context::executor_type> keep_running{io.get_executor()};

    shared_state& shared;
    upstream_client upstream;
    planner plan_request;
    body_codec codec;
    decode_buffer decoded;
    translator translate{shared.key};
    std::string rewritten;  // decoded: what is to go upstream instead of the sender's body

    /// Of the front desk only, which answers GET and HEAD: takes connections with any other request.
    std::function<void(sender_connection)> pass_on{};

    explicit worker(shared_state& state)
        : shared(state),
          upstream(io, state.settings.upstream, state.metrics.upstream),
          plan_request(state.key, state.settings.ignore_labels, filled_in_max(state.settings)) {}

  private:
    /// A translated body has its symbols filled in, and is to be no larger than others.
    static std::size_t filled_in_max(const config& settings) {
        const bool translates = settings.upstream.protocol == upstream_protocol::v1;
        return translates ? std::min(settings.server.decoded_bytes_max, std::uint64_t{symbol_bytes_per_request_max})
                          : symbol_bytes_per_request_max;
    }
};

}  // namespace seriesgate
