/// The connections that senders hold to one worker, and how long they are waited for.
#pragma once

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "net/timed_stream.hpp"

namespace seriesgate {

/// While the gate drains, senders that are slow hold nobody up: what is being read or written then, and each such step
/// that begins later, gets a short grace instead of its usual time.
/// Threads: the worker's.
class sender_streams {
    using duration = timed_stream::clock::duration;
    std::unordered_set<timed_stream*> open_;
    duration step_max_ = duration::max();

  public:
    void enter(timed_stream& stream) { open_.insert(&stream); }
    void leave(timed_stream& stream) noexcept { open_.erase(&stream); }

    /// Gives the stream's next step its time.
    void allow(timed_stream& stream, duration usual) const { stream.expires_after(std::min(usual, step_max_)); }

    void hurry(duration grace) {
        step_max_ = grace;
        const auto limit = timed_stream::clock::now() + grace;
        for (timed_stream* const stream : open_) stream->expires_by(limit);
    }
    [[nodiscard]] bool hurried() const noexcept { return step_max_ != duration::max(); }
};

}  // namespace seriesgate
