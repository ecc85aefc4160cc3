/// What a gate makes of its fleet's feed: series that other gates were granted become known here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "claim/fleet_view.hpp"
#include "claim/store_call.hpp"

namespace seriesgate {

/// How far a gate has read. Without I/O and clocks. Threads: one.
///
/// This gate's own grants become known by the answers to its calls, because only with these do its own limits count.
/// The feed makes them known only when the answer is overdue.
class feed_follower {
  public:
    using steady_point = std::chrono::steady_clock::time_point;
    /// What other gates were granted longer ago than this is known here, while the feed is followed.
    static constexpr std::chrono::seconds fresh{1};
    struct news {
        std::size_t series = 0;  ///< that other gates were granted
        std::size_t gaps = 0;    ///< times that something was missing
    };

  private:
    struct late {
        steady_point at;
        fed_call said;
    };

    series_limiter* limiter_;
    fleet_view* view_;
    std::uint64_t run_;
    std::chrono::nanoseconds answers_within_;
    std::string epoch_;
    std::uint64_t read_ = 0;  // number of the last series read, as the store counts the feed
    bool knows_all_ = false;  // of the open hour
    bool wants_download_ = true;
    std::deque<late> late_;  // this gate's entries, until their answers are overdue, and all entries after them

  public:
    /// @param run see gate_terms. @param answers_within longest that an answer is waited for.
    feed_follower(series_limiter& limiter, fleet_view& view, std::uint64_t run, std::chrono::nanoseconds answers_within)
        : limiter_(&limiter), view_(&view), run_(run), answers_within_(answers_within) {}

    /// Series that have been read: where the next page begins.
    [[nodiscard]] std::uint64_t read() const noexcept { return read_; }
    /// @param sent when it was asked for. @param now of the fleet. @return whether it was taken; then more may wait
    /// behind it.
    bool read_page(const feed_page& page, steady_point sent, time_point now, news& into);
    /// Makes entries known whose answers are overdue.
    void learn_late(steady_point now);
    /// The store cannot be reached.
    void lose() noexcept;

    /// Whether this gate may lack granted series, so that the windows must be downloaded.
    [[nodiscard]] bool wants_download() const noexcept { return wants_download_; }
    void has_downloaded() noexcept {
        wants_download_ = false;
        knows_all_ = true;
    }

  private:
    void learn_call(const fed_call& said);
    void miss(news& into) noexcept;
};

}  // namespace seriesgate
