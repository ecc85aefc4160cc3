/// Copies new and refused series, with their sender, from requests to the thread that counts them.
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
#include "ingest/ingest_shared.hpp"
#include "ingest/outgoing.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "net/async.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

// --- The sampler.

/// Workers leave a copy of new, returned and refused series, and go on. Another thread reads the labels and counts. So
/// a request never waits, and a new series costs some ten nanoseconds. Series that the sampling would skip are not
/// copied (`thinning` in cardinality/space_saving.hpp).
///
/// The copies take at most bytes_max. When many bytes wait, the sampler looks at fewer series. Without room for a
/// batch, it counts only how many series were missed. Threads: any.
class series_sampler {
  public:
    static constexpr std::size_t bytes_max = 16u << 20;
    /// For the labels of one series; longer ones are cut.
    static constexpr std::size_t labels_bytes_max = refused_ring::series_bytes_max;

    series_sampler(cardinality_tracker& tracker, refused_ring& refused, const series_limiter& limiter)
        : tracker_(tracker), refused_(refused), limiter_(limiter) {}

    /// Copies the new, returned and refused series of a request.
    /// @param planning the planner of `decided`; its labels() is called.
    void take(const plan& decided, planner& planning, bytes_view body, protocol version, const request_sender& from,
              time_point now);

    /// Counts the batches that wait now, and none that come later. For callers that want up-to-date counts.
    void catch_up();

    /// Ends the hours of the counts that the limiter has ended. Counts the waiting batches of those hours first.
    void end_hours();

    /// Counts batches as they come. Spawn it once; the event loop must outlive this object.
    /// @param begins called when a batch arrives after a pause.
    net::awaitable<void> run(std::function<void()> begins = [] {});

  private:
    struct batch {
        struct entry {
            std::uint64_t fingerprint = 0;
            byte_range record{};  // in `records`
            refusal refused{};
            bool is_kept = false;  // for the ring of refused series
            bool is_whole = true;  // all labels were copied
        };
        series_event kind = series_event::newly_admitted;
        std::vector<entry> entries{};
        std::string records{};  // as remote write 1 entries
        std::string tenant{}, address{}, agent{};
        time_point when{};

        [[nodiscard]] std::size_t bytes() const noexcept;
    };
    struct waiting {
        std::deque<batch> batches{};
        std::size_t bytes = 0;
        std::size_t thin_at = bytes_max / 4;
        std::weak_ptr<async_event> wakes{};  // set by run(); belongs to its event loop
    };
    class batch_labels;

    void take(series_event kind, std::span<const std::uint32_t> entries, planner& planning, bytes_view body,
              protocol version, const request_sender& from, time_point now);
    static batch begin(series_event kind, const request_sender& from, time_point now, std::size_t count);
    void put(batch made);
    void count(const batch& of);
    void keep_refused(const batch& of);
    [[nodiscard]] refused_series describe(const batch& of, const batch::entry& entry) const;

    cardinality_tracker& tracker_;
    refused_ring& refused_;
    const series_limiter& limiter_;
    guarded<waiting> waiting_;
    std::mutex counting_;  // one at a time, so that catch_up() also waits for a batch being counted
};

/// Passes the request's new, returned and refused series to `shared.sampler`; does nothing if it has none.
/// @param planning the planner of `request`; its labels() is called.
void sample_series(const decided_request& request, planner& planning, ingest_shared& shared);

}  // namespace seriesgate
