/// Whose the new and the refused series of a request are, for those who ask later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/refused_ring.hpp"
#include "core/bytes.hpp"
#include "core/synchronization.hpp"
#include "ingest/outgoing.hpp"
#include "ingest/stores.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "net/asio.hpp"
#include "net/async.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

// --- New and refused series on their way from requests to those who count them.

class series_limiter;

/// A worker leaves a copy of what is new and goes on; another thread looks at labels and counts. So a request waits for
/// nobody, and pays some ten nanoseconds for a new series. Of those that would be left out anyway (see thinning.hpp)
/// there is no copy.
///
/// What waits takes at most bytes_max. When much waits, less is looked at from then on; what comes when there is no
/// room for all that is not counted, but that there was so much. Threads: any.
class series_sampler {
  public:
    static constexpr std::size_t bytes_max = 16u << 20;
    /// Of one series. Longer ones have the beginnings of their labels.
    static constexpr std::size_t labels_bytes_max = refused_ring::series_bytes_max;

    series_sampler(cardinality_tracker& tracker, refused_ring& refused, const series_limiter& limiter)
        : tracker_(tracker), refused_(refused), limiter_(limiter) {}

    /// What a request has brought.
    /// @param planning what `decided` was planned with; its labels() is used.
    /// @param body decoded.
    void take(const plan& decided, planner& planning, bytes_view body, protocol version, const request_sender& from,
              time_point now);

    /// Counts all that waits when it is called, and nothing that comes later. For who wants to know what is counted by
    /// now, too.
    void catch_up();

    /// Ends the hours of the counts that have ended for the limiter. What came in them is counted first.
    void end_hours();

    /// Counts what comes. Spawn it once; the event loop outlives this.
    /// @param begins is called when something has come after nothing had for a while.
    net::awaitable<void> run(std::function<void()> begins = [] {});

  private:
    /// Some series of one request.
    struct batch {
        struct entry {
            std::uint64_t fingerprint = 0;
            byte_range record{};   // in `records`
            refusal by{};          // of refused ones
            bool is_kept = false;  // in the ring
            bool is_whole = true;  // its labels
        };
        series_event kind = series_event::newly_admitted;
        std::vector<entry> entries{};
        std::string records{};  // series entries of remote write 1
        std::string tenant{}, address{}, agent{};
        time_point when{};

        [[nodiscard]] std::size_t bytes() const noexcept;
    };
    struct waiting {
        std::deque<batch> batches{};
        std::size_t bytes = 0;
        std::size_t thin_at = bytes_max / 4;
        std::weak_ptr<async_event> wakes{};  // run(), once it runs; goes with its event loop
    };
    class batch_labels;

    void take(series_event kind, std::span<const std::uint32_t> entries, planner& planning, bytes_view body,
              protocol version, const request_sender& from, time_point now);
    static batch begin(series_event kind, const request_sender& from, time_point now, std::size_t count);
    void put(batch made);
    bool has_any();
    bool has_room_for_long_ones();
    void end_hours_before(time_point when);
    void count(const batch& of);
    [[nodiscard]] refused_series describe(const batch& of, const batch::entry& entry) const;

    cardinality_tracker& tracker_;
    refused_ring& refused_;
    const series_limiter& limiter_;
    guarded<waiting> waiting_;
    std::mutex counting_;  // one at a time, so that who asks finds counted what was taken before
};

/// Leaves them to `shared.noted`. Nothing is done about a request that has neither.
/// @param planning what `request` was planned with; its labels() is used.
void sample_series(const decided_request& request, planner& planning, ingest_shared& shared);

}  // namespace seriesgate
