/// Kept-alive connections of one worker to the upstream.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/metrics.hpp"
#include "upstream/net.hpp"

namespace seriesgate {

/// An open socket that counts in a gauge for as long as it lives.
class upstream_connection {
    struct release {
        void operator()(gauge* open) const noexcept { open->sub(); }
    };
    std::unique_ptr<gauge, release> open_;

  public:
    tcp::socket socket;

    upstream_connection(tcp::socket opened, gauge& open) : open_(&open), socket(std::move(opened)) { open.add(); }
};

/// Last in, first out, so that connections which a quieter time does not need grow old and are closed.
/// Threads: the worker's.
class connection_pool {
    using clock = std::chrono::steady_clock;
    struct idle {
        upstream_connection connection;
        clock::time_point since;
    };
    std::vector<idle> idle_;  // oldest first

  public:
    /// More requests at once than this open and close their connections.
    static constexpr std::size_t idle_max = 256;

    /// The youngest connection that is still quiet.
    std::optional<upstream_connection> take() {
        while (!idle_.empty()) {
            std::optional<upstream_connection> taken{std::move(idle_.back().connection)};
            idle_.pop_back();
            if (is_quiet(taken->socket)) return taken;
        }
        return std::nullopt;
    }

    void give(upstream_connection connection) {
        if (idle_.size() < idle_max) idle_.push_back({std::move(connection), clock::now()});
    }

    /// Closes what has been idle for longer than `age`.
    void close_idle(clock::duration age) {
        const auto limit = clock::now() - age;
        std::size_t old = 0;
        while (old < idle_.size() && idle_[old].since < limit) ++old;
        idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(old));
    }

  private:
    /// Nothing may come on an idle connection. An end means that the upstream has closed it; bytes would be an answer
    /// that nobody asked for (some servers say 408 before they close), to be taken for the next request's.
    static bool is_quiet(tcp::socket& socket) {
        char byte = 0;
        return ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
               (errno == EAGAIN || errno == EWOULDBLOCK);
    }
};

}  // namespace seriesgate
