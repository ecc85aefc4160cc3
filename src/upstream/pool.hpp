/// Kept-alive connections of one worker to the upstream.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/counters.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

/// An open connection that counts in a gauge for as long as it lives.
class upstream_connection {
    struct release {
        void operator()(gauge* open) const noexcept { open->sub(); }
    };
    std::unique_ptr<gauge, release> open_;

  public:
    timed_stream stream;

    upstream_connection(tcp::socket opened, gauge& open) : open_(&open), stream(std::move(opened)) { open.add(); }
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

    /// The youngest connection that is still quiet. Nothing may come on an idle connection: an end means that the
    /// upstream has closed it; bytes would be an answer that nobody asked for (some servers say 408 before they close),
    /// to be taken for the next request's.
    std::optional<upstream_connection> take() {
        while (!idle_.empty()) {
            std::optional<upstream_connection> taken{std::move(idle_.back().connection)};
            idle_.pop_back();
            if (taken->stream.is_quiet()) return taken;
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
};

}  // namespace seriesgate
