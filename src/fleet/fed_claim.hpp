/// What gates have taken in an hour, as its feed says it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fleet/heard_counts.hpp"

namespace seriesgate {

/// Claims in one answer, at most: some 200 KB.
inline constexpr std::size_t fed_claims_max = 128;

/// What one claim has taken.
struct fed_claim {
    std::uint64_t upto = 0;  ///< series of the hour with these
    std::uint64_t gate = 0;  ///< whose claim it was, see claim_terms
    std::vector<std::uint64_t> fingerprints{};
    std::vector<fed_count> hourly{};        ///< of the budgets that have grown
    std::vector<fed_count> daily{};         ///< the same
    std::vector<std::uint64_t> families{};  ///< of histograms that have begun with these series

    friend bool operator==(const fed_claim&, const fed_claim&) = default;
};

/// The next of them.
struct feed_answer {
    bool is_whole = false;     ///< the server has lost no counts; else nothing is said
    std::string since{};       ///< the recovery that made them whole, see recovery_answer
    std::uint64_t series = 0;  ///< that the hour has
    std::vector<fed_claim> claims{};
};

}  // namespace seriesgate
