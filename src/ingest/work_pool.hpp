/// The request_works of one worker.
#pragma once

#include <cstddef>
#include <cstdint>
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

// --- What one request is worked on with, from its compressed body to what goes upstream.

/// Belongs to one request at a time, whatever its worker does meanwhile: see work_pool. A plan and the decoded body
/// point into it.
struct request_work {
    /// Of the decoded and the rewritten body: enough for usual requests (Prometheus 1 MB, vmagent 8 MiB).
    static constexpr std::size_t kept_buffer_bytes = 16u << 20;

    decode_buffer decoding;
    planner planning;
    questions asked;  ///< of the store of a fleet
    translator translate;
    body_codec codec;
    std::string rewritten;             ///< decoded: what goes upstream in place of the sender's body
    std::optional<work_lease> memory;  ///< of server.maxInflightBytes, while it belongs to a request

    /// @param key of this installation.
    /// @param labels that all workers know.
    request_work(const config& settings, const hash_key& key, label_hash_cache& labels);

    /// Gives the memory of a giant back; nothing of the request is needed any more.
    void shrink();
};

/// Makes one when none is idle, so two requests may be in the middle at once; how many there can be is what
/// server.maxInflightBytes leaves room for. Keeps idle_max of them, without the memory of giants.
/// Threads: the worker's.
class work_pool {
    struct shelf;
    struct putter_back;

    std::shared_ptr<shelf> shelf_;

  public:
    /// One is worked with most of the time, more only while something is waited for in the middle.
    static constexpr std::size_t idle_max = 2;

    /// Goes back when it is destroyed, before the request's own lease is, and may outlive the pool: the coroutine that
    /// holds it may be ended with its io_context.
    using lease = std::unique_ptr<request_work, putter_back>;

    /// @param settings outlive the pool and what has been taken.
    /// @param labels that all workers know; outlive them, too.
    work_pool(const config& settings, const hash_key& key, label_hash_cache& labels);

    /// @param memory of the request, which pays for what the work comes to hold.
    [[nodiscard]] lease take(inflight_lease& memory);

    [[nodiscard]] std::size_t idle() const noexcept;
    [[nodiscard]] std::size_t in_use() const noexcept;

  private:
    struct putter_back {
        std::shared_ptr<shelf> to{};
        void operator()(request_work* done) const noexcept;
    };
    struct shelf {
        const config& settings;
        hash_key key;
        label_hash_cache& labels;
        std::vector<std::unique_ptr<request_work>> idle{};
        std::size_t in_use = 0;
    };
};

}  // namespace seriesgate
