/// A time limit on whatever a socket is doing.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>

#include "upstream/net.hpp"

namespace seriesgate {

/// Cancels the socket's outstanding operation when the time is up; expired() then tells that it was us. Unlike the
/// timer of Beast's tcp_stream it does not close the socket, so the peer can still be told.
///
/// Threads: the socket's. The socket must outlive the deadline.
class deadline {
    struct state {
        net::steady_timer timer;
        tcp::socket* socket;
        bool expired = false;
    };
    // Shared with the timer's handler, which may be queued already when the deadline goes.
    std::shared_ptr<state> state_;

  public:
    explicit deadline(tcp::socket& socket)
        : state_(std::make_shared<state>(state{net::steady_timer{socket.get_executor()}, &socket})) {}
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;
    ~deadline() {
        state_->socket = nullptr;
        state_->timer.cancel();
    }

    /// From now on, in place of what was set before.
    void expires_after(std::chrono::steady_clock::duration limit) {
        expires_at(std::chrono::steady_clock::now() + limit);
    }
    void expires_at(std::chrono::steady_clock::time_point limit) {
        state_->expired = false;
        state_->timer.expires_at(limit);  // cancels the wait before
        state_->timer.async_wait([state = state_, limit](error_code error) {
            // A wait that was replaced after its time had come is told by the timer's other limit.
            if (error || state->socket == nullptr || state->timer.expiry() != limit) return;
            state->expired = true;
            error_code ignored;
            state->socket->cancel(ignored);
        });
    }

    /// The last operation ended because its time was up.
    [[nodiscard]] bool expired() const noexcept { return state_->expired; }
};

}  // namespace seriesgate
