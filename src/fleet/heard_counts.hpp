/// What a gate has been told of the counts that its fleet shares.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>

#include "claim/claim.hpp"
#include "claim/count_offer.hpp"
#include "claim/known_counts.hpp"

namespace seriesgate {

/// Of a budget in the hour or the day, as a claim has left it.
struct fed_count {
    std::uint64_t id = 0;      ///< as the store files it
    std::uint64_t series = 0;  ///< counted

    friend bool operator==(const fed_count&, const fed_count&) = default;
};

/// The largest counts of every budget that an answer, or the feed, has had. Bounded: it has the budgets that the store
/// has counted something in, whose number the rules bound. Threads: any.
class heard_counts {
    struct entry {
        offered_budget counts;
        std::uint64_t changed = 0;
    };

    mutable std::mutex lock_;
    std::int64_t hour_ = 0;
    std::uint64_t rules_ = 0;
    bool with_day_ = false;
    bucket_counts buckets_;
    std::uint64_t revision_ = 0;
    std::unordered_map<std::uint64_t, entry> budgets_;
    std::int64_t fed_hour_ = 0;
    std::unordered_map<std::uint64_t, known_count> fed_;  // of that hour and its day, by id

  public:
    /// Budgets of which fed counts are kept, at most, and such that only the feed has had.
    static constexpr std::size_t fed_max = 256 * 1024;

    /// @param said the answer to `asked`, a decided one.
    void hear(const claim& asked, const claim_terms& terms, const claim_answer& said);

    /// By which terms this gate counts, before any answer has been heard. Where they limit the day, a day is offered
    /// also if nothing was heard of it: groups have their places there.
    void count_by(const claim_terms& terms);

    /// What the feed of that hour says is counted: series that the gate knows by it flow on, so a store that has lost
    /// counts is offered these, too. It does not say which limit a budget belongs to.
    void hear_counted(std::int64_t hour, std::span<const fed_count> hourly, std::span<const fed_count> daily);

    /// The same, of budgets whose series are all known to this gate: see fed().
    void hear_fed(std::int64_t hour, std::span<const fed_count> hourly, std::span<const fed_count> daily);

    /// @return what the feed has said of a budget in that hour and its day.
    [[nodiscard]] known_count fed(std::int64_t hour, std::uint64_t id) const;
    /// Whether a budget has a place of its own in its limit in that hour, so that it does not share: that lasts until
    /// the hour ends.
    [[nodiscard]] bool has_place(std::uint64_t id, std::int64_t hour) const;

    /// Budgets that it has heard of.
    [[nodiscard]] std::size_t size() const;

    /// @return what has grown since that revision; 0: all.
    [[nodiscard]] count_offer grown_since(std::uint64_t revision) const;

  private:
    void begin_hour(std::int64_t hour);
    void take(const offered_budget& counts);
    known_count* fed_of(std::uint64_t id);
    void raise(offered_budget counts);
};

}  // namespace seriesgate
