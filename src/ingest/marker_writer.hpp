/// Writes markers to one store, beside all that senders write.
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
#include "net/asio.hpp"
#include "net/async.hpp"
#include "plan/marker.hpp"
#include "upstream/store_client.hpp"

namespace seriesgate {

class series_limiter;

/// What the writers of all stores have in common. Outlives them.
struct marker_sources {
    const config& settings;
    const series_limiter& limiter;
    const limit_counters& refused;          ///< samples, by limit and tenant
    const std::function<time_point()> now;  ///< by which the limiter's hours go
    const std::string gate;                 ///< who writes
    marker_metrics& metrics;
};

/// It has connections of its own, one to each backend of the store, so no sender's request waits for it. Markers pass
/// no limit. Nothing is queued: what the store does not take is said anew in the next minute, if it still holds then.
/// Threads: that of its io_context.
class marker_writer {
    marker_sources& from_;
    store_client client_;
    marker_book book_;
    marker_turn turn_;
    async_timer pause_;
    sparse_log failures_{std::chrono::minutes{10}};
    bool ending_ = false;
    std::atomic<bool> ended_{false};

  public:
    /// What is passed must outlive it.
    marker_writer(net::io_context& io, marker_sources& from, shared_store& store);

    /// Writes until end(), and then the ends of all markers. Spawn it once.
    net::awaitable<void> run();

    /// What is under way is waited for, which may take as long as the store does.
    void end();
    /// Whether all has been done after that. Threads: any.
    [[nodiscard]] bool has_ended() const noexcept { return ended_; }

  private:
    [[nodiscard]] marker_values find_markers(time_point now) const;
    net::awaitable<void> write(std::vector<marker_request> requests, time_point now);
    /// What has become of one request.
    enum class outcome : std::uint8_t {
        taken,
        rejected,  ///< another tenant's may be taken
        away,      ///< nothing else is tried in this minute
    };
    net::awaitable<outcome> send(const marker_request& request);
    void tell_failed(std::size_t samples, std::string_view tenant, std::string_view reason, std::string_view err);
};

}  // namespace seriesgate
