/// When to say that the store does not confirm what it was sent, or not all of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "log/sparse_log.hpp"

namespace seriesgate {

/// Remote write 2 that was answered with success though samples of it are not known to be stored: a line in each
/// interval for as long as it lasts, and one about the last of them. Threads: any.
class lost_log {
    sparse_log requests_;
    std::atomic<std::uint64_t> samples_{0};

  public:
    using clock = sparse_log::clock;
    explicit lost_log(clock::duration interval = sparse_log::usual_interval) noexcept : requests_(interval) {}

    /// Since the line before.
    struct news {
        std::uint64_t requests = 0;
        std::uint64_t samples = 0;
    };

    /// One more request. @return what to say, if a line is due.
    std::optional<news> count(std::uint64_t samples, clock::time_point now = clock::now()) noexcept {
        samples_.fetch_add(samples, std::memory_order_relaxed);
        return with_samples(requests_.count(1, now));
    }
    /// For who looks every now and then. @return as count().
    std::optional<news> rest(clock::time_point now = clock::now()) noexcept {
        return with_samples(requests_.rest(now));
    }

  private:
    std::optional<news> with_samples(std::optional<std::uint64_t> requests) noexcept {
        if (!requests) return std::nullopt;
        return news{.requests = *requests, .samples = samples_.exchange(0, std::memory_order_relaxed)};
    }
};

}  // namespace seriesgate
