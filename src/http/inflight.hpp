/// Bounds the memory that the requests of all workers hold together (server.maxInflightBytes).
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

#include "base/metrics.hpp"

namespace seriesgate {

struct inflight_use {
    std::int64_t held = 0;
    std::int64_t held_max = 0;
    std::int64_t bodies = 0;  ///< part of `held`
    std::int64_t bodies_max = 0;
};

/// The account for all requests. Bodies leave room for one decoded body, so one request can always proceed.
/// Threads: any.
class inflight_room {
    using bytes = std::int64_t;

    gauge& shown_;
    const bytes limit_;
    const bytes bodies_max_;
    std::atomic<bytes> all_{0};
    std::atomic<bytes> bodies_{0};

    friend class inflight_lease;
    friend class work_lease;

    /// @param own the caller's part of `held`. If no other request holds any, the caller always gets its bytes: waiting
    /// would be pointless, and other bounds limit one request.
    static bool take(std::atomic<bytes>& held, bytes more, bytes limit, bytes own) noexcept {
        bytes now = held.load(std::memory_order_relaxed);
        while (now == own || now + more <= limit)
            if (held.compare_exchange_weak(now, now + more, std::memory_order_relaxed)) return true;
        return false;
    }

    bool take(bytes more, bytes own) noexcept {
        if (!take(all_, more, limit_, own)) return false;
        shown_.add(more);
        return true;
    }
    void give(bytes back) noexcept {
        [[maybe_unused]] const bytes held = all_.fetch_sub(back, std::memory_order_relaxed);
        assert(back >= 0 && held >= back);
        shown_.sub(back);
    }

  public:
    inflight_room(gauge& shown, std::uint64_t limit, std::uint64_t decoded_bytes_max)
        : shown_(shown),
          limit_(static_cast<bytes>(limit)),
          bodies_max_(static_cast<bytes>(limit) - static_cast<bytes>(decoded_bytes_max)) {
        assert(limit >= decoded_bytes_max);
    }
};

/// Bytes of one request, returned at its end. Threads: one at a time.
class inflight_lease {
    inflight_room& room_;
    std::int64_t bodies_ = 0;
    std::int64_t work_ = 0;

    friend class work_lease;

  public:
    explicit inflight_lease(inflight_room& room) : room_(room) {}
    inflight_lease(const inflight_lease&) = delete;
    inflight_lease& operator=(const inflight_lease&) = delete;
    ~inflight_lease() { release(); }

    /// Returns the body's bytes. On rejection at once, so that other requests need not be rejected too.
    void release() noexcept {
        assert(bodies_ >= 0);
        room_.give(bodies_);
        room_.bodies_.fetch_sub(bodies_, std::memory_order_relaxed);
        bodies_ = 0;
    }

    /// Whether a body of this size would fit now, with room for decoding. Reserves nothing.
    [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept {
        const auto more = static_cast<std::int64_t>(bytes);
        const auto fits = [more](const auto& held, std::int64_t limit, std::int64_t own) {
            const std::int64_t now = held.load(std::memory_order_relaxed);
            return now == own || now + more <= limit;
        };
        return fits(room_.all_, room_.limit_, bodies_ + work_) && fits(room_.bodies_, room_.bodies_max_, bodies_);
    }

    [[nodiscard]] inflight_use use() const noexcept {
        return {.held = room_.all_.load(std::memory_order_relaxed),
                .held_max = room_.limit_,
                .bodies = room_.bodies_.load(std::memory_order_relaxed),
                .bodies_max = room_.bodies_max_};
    }

    /// Reserves body bytes. @return false if they do not fit; then nothing is reserved.
    [[nodiscard]] bool grow(std::uint64_t bytes) noexcept {
        const auto more = static_cast<std::int64_t>(bytes);
        if (!inflight_room::take(room_.bodies_, more, room_.bodies_max_, bodies_)) return false;
        if (!room_.take(more, bodies_ + work_)) {
            room_.bodies_.fetch_sub(more, std::memory_order_relaxed);
            return false;
        }
        bodies_ += more;
        return true;
    }
};

/// Bytes of a request while it is processed: the decoded body and its products. Threads: the request's.
class work_lease {
    inflight_lease& request_;

  public:
    explicit work_lease(inflight_lease& request) : request_(request) {}
    work_lease(const work_lease&) = delete;
    work_lease& operator=(const work_lease&) = delete;
    ~work_lease() {
        request_.room_.give(request_.work_);
        request_.work_ = 0;
    }

    /// Reserves work bytes. @return false if they do not fit; then nothing is reserved.
    [[nodiscard]] bool grow(std::uint64_t bytes) noexcept {
        const auto more = static_cast<std::int64_t>(bytes);
        if (!request_.room_.take(more, request_.bodies_ + request_.work_)) return false;
        request_.work_ += more;
        return true;
    }
};

}  // namespace seriesgate
