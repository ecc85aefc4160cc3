/// The connections that senders hold to one worker, and how long they are waited for.
#pragma once

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "net/timed_stream.hpp"

namespace seriesgate {

/// While the gate drains, senders that are slow hold nobody up: what is being read or written then, and each such step
/// that begins later, gets a short grace instead of its usual time.
/// Threads: the worker's.
class sender_streams {
    using duration = timed_stream::clock::duration;
    std::unordered_map<timed_stream*, const bool*> open_;
    duration step_max_ = duration::max();

  public:
    /// @param may_wake whether it waits for something that wake_idle() is to end, at the moment.
    void enter(timed_stream& stream, const bool& may_wake) { open_.emplace(&stream, &may_wake); }
    void leave(timed_stream& stream) noexcept { open_.erase(&stream); }

    /// Gives the stream's next step its time.
    void allow(timed_stream& stream, duration usual) const { stream.expires_after(std::min(usual, step_max_)); }

    void hurry(duration grace) {
        step_max_ = grace;
        const auto limit = timed_stream::clock::now() + grace;
        for (const auto& [stream, may_wake] : open_) stream->expires_by(limit);
    }
    /// Each step that begins from here on has its usual time again.
    void hurry_no_more() noexcept { step_max_ = duration::max(); }

    /// Ends the wait of those that wait for a request, without a byte lost: for who takes them elsewhere.
    void wake_idle() {
        for (const auto& [stream, may_wake] : open_)
            if (*may_wake) stream->cancel();
    }
    [[nodiscard]] bool hurried() const noexcept { return step_max_ != duration::max(); }
};

}  // namespace seriesgate
