/// What gates and a store that may have lost counts say to each other, until they are whole again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "claim/claim.hpp"

namespace seriesgate {

/// The largest counts of a budget that a gate has been told of, in the open hour and its day.
struct offered_budget {
    std::uint64_t id = 0;  ///< as the store files it
    std::uint64_t hourly = 0;
    std::uint64_t daily = 0;
    std::uint64_t limit_budgets = 0;  ///< on which it has a place of its own, see claimed_budget::limit_budgets; or 0

    friend bool operator==(const offered_budget&, const offered_budget&) = default;
};

/// What makes a store's counts whole again that has lost some.
struct count_offer {
    std::int64_t hour = 0;                  ///< since the epoch
    std::uint64_t rules = 0;                ///< see claim_terms
    bucket_counts buckets{};                ///< of that hour and its day
    std::vector<offered_budget> budgets{};  ///< in no order
    std::uint64_t revision = 0;             ///< what the gate had heard by then
};

/// Budgets in one call, at most: the store does nothing else meanwhile, for a millisecond.
inline constexpr std::size_t offered_budgets_max = 500;

/// That a gate has accepted incumbents at once in an hour, and has yet to tell of them.
struct untold_series_of {
    std::string name{};     ///< by which it will say that it has: see telling_text.hpp; nothing: none are
    std::int64_t hour = 0;  ///< since the epoch
};

/// What a gate says in one call, besides some budgets of its offer.
struct recovery_words {
    std::string gate;                    ///< its name
    std::vector<std::string> others{};   ///< gates that are waited for, as far as it knows
    bool is_last = false;                ///< then it has offered all
    std::string in{};                    ///< the recovery that it knows of; nothing: none, all is offered from here on
    std::chrono::milliseconds waited{};  ///< since it has heard of this recovery, by its own clock
    untold_series_of untold{};
};

struct recovery_answer {
    bool is_whole = false;
    std::string since{};  ///< tells this recovery from others; when it has ended, too

    friend bool operator==(const recovery_answer&, const recovery_answer&) = default;
};

}  // namespace seriesgate
