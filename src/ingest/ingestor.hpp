/// One worker's ingestion.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "http/http_request.hpp"
#include "http/reply.hpp"
#include "http/sparse_log.hpp"
#include "ingest/ingest_metrics.hpp"
#include "limit/limiter.hpp"
#include "net/asio.hpp"
#include "plan/plan.hpp"
#include "series/hash_key.hpp"
#include "upstream/client.hpp"
#include "upstream/upstream_metrics.hpp"
#include "wire/compression.hpp"
#include "wire/decode_buffer.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

/// What the ingestors of all workers share. Everything in it may be used by any thread at any time.
struct ingest_shared {
    const config& settings;
    series_limiter& limiter;
    const hash_key& key;
    ingest_metrics& metrics;
    upstream_metrics& upstream;
    sparse_log refusals{};
    sparse_log upstream_failures{};
    std::atomic_flag unconfirmed_told{};
    std::atomic_flag query_told{};
};

/// Its connections to the upstream and its buffers. Threads: the worker's.
struct ingestor {
    ingest_shared& shared;
    upstream_client upstream;
    planner plan_request;
    body_codec codec;
    decode_buffer decoded;
    translator translate{shared.key};
    std::string rewritten;  // decoded: what is to go upstream instead of the sender's body

    ingestor(net::io_context& io, ingest_shared& state)
        : shared(state),
          upstream(io, state.settings.upstream, state.upstream),
          plan_request(state.key, state.settings.ignore_labels, filled_in_max(state.settings)) {}

    /// Decodes, decides, forwards and answers. Never throws for what a sender or the upstream does.
    net::awaitable<reply> answer(http_request& request);

    /// Keeps the upstream's addresses known. Runs until the io_context stops; spawn it once.
    net::awaitable<void> maintain() { return upstream.maintain(); }
    /// Whether requests can be answered without waiting for a name to be looked up first. Threads: any.
    [[nodiscard]] bool ready() const noexcept { return shared.settings.upstream.discard || upstream.started(); }

  private:
    /// A translated body has its symbols filled in, and is to be no larger than others.
    static std::size_t filled_in_max(const config& settings) {
        const bool translates = settings.upstream.protocol == upstream_protocol::v1;
        return translates ? std::min(settings.server.decoded_bytes_max, std::uint64_t{symbol_bytes_per_request_max})
                          : symbol_bytes_per_request_max;
    }
};

}  // namespace seriesgate
