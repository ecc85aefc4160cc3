/// The request_works of one worker.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "config/config.hpp"
#include "http/inflight.hpp"
#include "ingest/request_work.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

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
    work_pool(const config& settings, const hash_key& key, known_labels& labels);

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
        known_labels& labels;
        std::vector<std::unique_ptr<request_work>> idle{};
        std::size_t in_use = 0;
    };
};

}  // namespace seriesgate
