/// Writes markers of refused data to one store, beside the requests of senders.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "config/config.hpp"
#include "ingest/ingest_metrics.hpp"
#include "net/async.hpp"
#include "plan/marker.hpp"
#include "upstream/store_client.hpp"

namespace seriesgate {

/// Shared by the writers of all stores. Outlives them.
struct marker_sources {
    const config& settings;
    const series_limiter& limiter;
    const limit_counters& refused;          ///< refused samples, by limit and tenant
    const std::function<time_point()> now;  ///< the limiter's clock
    const std::string gate;                 ///< name of this gate
    marker_metrics& metrics;
};

/// Has its own connections, one to each backend, so no sender's request waits for it. Markers pass no limit. Nothing is
/// queued: a failed marker is written again in the next minute, if it still holds. Threads: that of its io_context.
class marker_writer {
    marker_sources& from_;
    store_client client_;
    written_markers written_;
    marker_turn turn_;
    async_timer pause_;
    throttled_log failures_{std::chrono::minutes{10}};
    bool ending_ = false;
    std::atomic<bool> ended_{false};

  public:
    /// The arguments must outlive it.
    marker_writer(net::io_context& io, marker_sources& from, shared_store& store);

    /// Writes until end(), then the end of each marker. Spawn it once.
    net::awaitable<void> run();

    /// Stops after the request in progress, which may take as long as the store does.
    void end();
    /// Whether run() has written the ends and returned. Threads: any.
    [[nodiscard]] bool has_ended() const noexcept { return ended_; }

  private:
    [[nodiscard]] marker_values find_markers() const;
    net::awaitable<void> write(std::vector<marker_request> requests, time_point now);
    enum class outcome : std::uint8_t {
        taken,
        rejected,  ///< the store may still accept another tenant's request
        away,      ///< the store is unreachable: ends this minute's round
    };
    net::awaitable<outcome> send(const marker_request& request);
    void log_failed(std::size_t samples, std::string_view tenant, std::string_view reason, std::string_view err);
};

}  // namespace seriesgate
