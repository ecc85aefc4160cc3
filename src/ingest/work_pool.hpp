/// Buffers and planners for requests in progress, reused by one worker.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "claim/questions.hpp"
#include "config/config.hpp"
#include "http/inflight.hpp"
#include "plan/planner.hpp"
#include "series/fingerprint.hpp"
#include "wire/decompression.hpp"
#include "wire/splice.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

// --- The working memory of one request.

/// Working memory from the compressed body to the outgoing request. Belongs to one request at a time. The plan and the
/// decoded body point into it.
struct request_work {
    /// Buffers up to this size are kept for reuse: enough for usual requests (Prometheus 1 MB, vmagent 8 MiB).
    static constexpr std::size_t kept_buffer_bytes = 16u << 20;

    decode_buffer decoding;
    planner planning;
    questions asked;  ///< to the shared store of a fleet
    translator translate;
    body_codec codec;
    std::string rewritten;             ///< the decoded body that replaces the sender's
    std::optional<work_lease> memory;  ///< of server.maxInflightBytes, while in use

    /// @param labels shared by all workers.
    request_work(const config& settings, const hash_key& key, label_hash_cache& labels);

    /// Frees large buffers. Call it when the request needs no data in here any more.
    void shrink();
};

/// Creates a request_work when none is idle; server.maxInflightBytes bounds how many are in use. Keeps at most idle_max
/// of them, without large buffers. Threads: the worker's.
class work_pool {
    struct idle_pool;
    struct putter_back;

    std::shared_ptr<idle_pool> idle_;

  public:
    /// One is usual; a second is needed while a request waits in the middle of its work.
    static constexpr std::size_t idle_max = 2;

    /// Returns the work to the pool when destroyed, before the request's own lease. May outlive the pool, since a
    /// coroutine may be destroyed with its io_context.
    using lease = std::unique_ptr<request_work, putter_back>;

    /// @param settings must outlive the pool and all leases.
    /// @param labels shared by all workers; must outlive them, too.
    work_pool(const config& settings, const hash_key& key, label_hash_cache& labels);

    /// @param memory the request's lease, which pays for the memory of the work.
    [[nodiscard]] lease take(inflight_lease& memory);

    [[nodiscard]] std::size_t idle() const noexcept;
    [[nodiscard]] std::size_t in_use() const noexcept;

  private:
    struct putter_back {
        std::shared_ptr<idle_pool> to{};
        void operator()(request_work* done) const noexcept;
    };
    struct idle_pool {
        const config& settings;
        hash_key key;
        label_hash_cache& labels;
        std::vector<std::unique_ptr<request_work>> idle{};
        std::size_t in_use = 0;
    };
};

}  // namespace seriesgate
