/// What a gate has been told of the counts that its fleet shares.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "claim/claim.hpp"
#include "claim/count_offer.hpp"

namespace seriesgate {

/// The largest counts of every budget that an answer has had. Bounded: it has the budgets that the store has counted
/// something in, whose number the rules bound. Threads: any.
class heard_counts {
    struct entry {
        offered_budget counts;
        std::uint64_t changed = 0;
    };

    mutable std::mutex lock_;
    std::int64_t hour_ = 0;
    std::uint64_t rules_ = 0;
    bucket_counts buckets_;
    std::uint64_t revision_ = 0;
    std::unordered_map<std::uint64_t, entry> budgets_;

  public:
    /// @param said the answer to `asked`, a decided one.
    void hear(const claim& asked, const claim_terms& terms, const claim_answer& said);

    /// Whether a budget has a place of its own on its shelf in that hour, so that it does not share: that lasts until
    /// the hour ends.
    [[nodiscard]] bool has_place(std::uint64_t id, std::int64_t hour) const;

    /// @return what has grown since that revision; 0: all.
    [[nodiscard]] count_offer grown_since(std::uint64_t revision) const;

  private:
    void begin_hour(std::int64_t hour);
    void take(const offered_budget& counts);
};

}  // namespace seriesgate
