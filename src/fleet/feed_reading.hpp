/// What a gate makes of its fleet's feed, whoever reads that.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "fleet/fed_claim.hpp"
#include "fleet/feed_progress.hpp"
#include "fleet/heard_counts.hpp"
#include "limit/untold.hpp"

namespace seriesgate {

class series_limiter;

/// How far a gate has read, and what it knows by that: see feed.hpp, which asks. Without I/O and clocks. Threads: one.
class feed_reading {
  public:
    using steady_point = feed_progress::steady_point;

    /// All of the gate: they outlive this.
    struct parts {
        feed_progress& progress;
        untold_series& untold;
        heard_counts& heard;
        std::uint64_t gate = 0;                   ///< its number, see claim_terms
        std::chrono::nanoseconds answers_within;  ///< longest that it waits for the answer to a claim
        std::size_t claims_max = fed_claims_max;  ///< that are asked for at once
    };
    /// What came of some answers.
    struct news {
        std::size_t fed = 0;     ///< series of other gates
        std::size_t struck = 0;  ///< of them: this gate had yet to tell of them
        std::size_t gaps = 0;    ///< times that something was missing
    };

  private:
    /// How far it has come in an hour.
    struct place {
        std::int64_t hour = 0;
        std::uint64_t read = 0;   // series, as the store numbers them
        std::string since{};      // the recovery that made its counts whole
        bool knows_all = true;    // of those
        steady_point retry_at{};  // of the download of what it does not know
    };
    /// Something that this gate has taken itself, and may hear the answer to in this moment. Or counts that have come
    /// behind that: by them it is to know all that is counted.
    struct late {
        steady_point at{};
        std::int64_t hour = 0;
        fed_claim said{};
    };

    parts of_;
    std::optional<place> at_;
    std::deque<late> late_;

  public:
    explicit feed_reading(const parts& of) : of_(of) {}

    /// Begins an hour, if it is another one: since the epoch.
    void begin(std::int64_t hour);
    [[nodiscard]] std::int64_t hour() const { return at_->hour; }   ///< the one that was begun last
    [[nodiscard]] std::uint64_t read() const { return at_->read; }  ///< series of that hour

    /// Takes over what one answer says about the hour that was begun last.
    /// @param sent when it was asked for.
    /// @return false if what is left of it has to be read once more.
    bool take(const feed_answer& said, steady_point sent, series_limiter& limiter, news& into);
    /// Takes over what could not be taken at once. Call it now and then.
    void take_late(steady_point now, series_limiter& limiter);

    /// Whether something is missing that is to be downloaded now. If so, it is not again for some seconds.
    [[nodiscard]] bool wants_download(steady_point now);
    /// All has been downloaded that was in the feed before what has been read.
    void has_downloaded() { at_->knows_all = true; }

  private:
    void lose_until(std::uint64_t series, news& into);
    bool take_claim(const fed_claim& one, steady_point now, series_limiter& limiter, news& into);
};

}  // namespace seriesgate
