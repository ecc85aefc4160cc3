/// Kept-alive connections of one worker to an upstream.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/counters.hpp"
#include "net/timed_stream.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// An open connection that counts in a gauge for as long as it lives.
class upstream_connection {
    struct release {
        void operator()(gauge* open) const noexcept {
            assert(open->value() > 0);
            open->sub();
        }
    };

  public:
    timed_stream stream;
    stream_endpoint at{};                      ///< where it leads, once it is connected
    std::shared_ptr<const tls_context> tls{};  ///< what its TLS was made with; nothing for a plain one

    upstream_connection(stream_socket opened, gauge& open) : stream(std::move(opened)), open_(&open) { open.add(); }

  private:
    std::unique_ptr<gauge, release> open_;  // after the stream: what could not be made is not counted
};

/// Last in, first out, so that connections which a quieter time does not need grow old and are closed. What is in it
/// has no time limit, and nothing pending. Threads: the worker's.
class connection_pool {
  public:
    using clock = monotonic_clock;

    /// More requests at once than this open and close their connections.
    static constexpr std::size_t idle_max = 256;

  private:
    struct idle {
        upstream_connection connection;
        clock::time_point since;
    };
    std::vector<idle> idle_;  // oldest first

  public:
    /// The youngest connection that is still quiet. Nothing may come on an idle connection: an end means that the
    /// upstream has closed it; bytes would be an answer that nobody asked for (some servers say 408 before they close),
    /// to be taken for the next request's.
    std::optional<upstream_connection> take() {
        while (!idle_.empty()) {
            std::optional<upstream_connection> taken{std::move(idle_.back().connection)};
            idle_.pop_back();
            assert(!taken->stream.has_limit());
            if (taken->stream.is_quiet()) return taken;
        }
        return std::nullopt;
    }

    void give(upstream_connection connection, clock::time_point now = clock::now()) {
        assert(idle_.empty() || idle_.back().since <= now);
        connection.stream.forget_limit();
        if (idle_.size() < idle_max) idle_.push_back({std::move(connection), now});
    }

    /// Closes what has been idle for longer than `age`.
    void close_idle(clock::duration age, clock::time_point now = clock::now()) {
        const auto limit = now - age;
        std::size_t old = 0;
        while (old < idle_.size() && idle_[old].since < limit) ++old;
        idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(old));
    }

    /// Closes what shows another certificate than new connections do, or believes others.
    void close_made_with_others(const std::shared_ptr<const tls_context>& tls) {
        std::erase_if(idle_, [&](const idle& each) { return each.connection.tls != tls; });
    }

    /// Closes what leads to none of these addresses.
    void close_others(const std::vector<stream_endpoint>& known) {
        std::erase_if(idle_, [&](const idle& each) {
            return std::find(known.begin(), known.end(), each.connection.at) == known.end();
        });
    }

    [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }
};

}  // namespace seriesgate
