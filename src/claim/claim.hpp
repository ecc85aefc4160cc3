/// What a gate asks the shared store about series that it does not know, and what the store says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// Series in one claim, at most: the store decides about them in under a millisecond, in which it does nothing else.
inline constexpr std::size_t claimed_series_max = 128;
/// Budgets that one claim names, at most: their places in it fit into a byte.
inline constexpr std::size_t claimed_budgets_max = 240;

/// A budget as the store files it. Names and keys stay in the gates.
struct claimed_budget {
    std::uint64_t id = 0;
    series_maxima maxima{};  ///< 0: not limited in that window
    /// Of tenants and groups without an override: beyond so many of one limit in a day, they share its overflow
    /// budget. 0: this one has a place of its own whatever their number.
    std::uint64_t limit_budgets = 0;
    std::uint64_t places_max = 0;
    std::uint64_t overflow_id = 0;
    series_maxima overflow_maxima{};

    friend bool operator==(const claimed_budget&, const claimed_budget&) = default;
};

/// The next series of a claim, which all belong to the same budgets.
struct claim_run {
    std::uint32_t series = 0;
    std::vector<std::uint8_t> budgets{};  ///< places in claim::budgets, each once; no two share an overflow budget
    bool look = false;                    ///< only ask whether they are known: take nothing

    friend bool operator==(const claim_run&, const claim_run&) = default;
};

/// Series of one request that its gate does not know, in the order in which they are to be decided.
struct claim {
    std::vector<std::uint64_t> fingerprints{};  ///< one may stand there twice: then it is known the second time
    std::vector<claim_run> runs{};              ///< of all of them, in their order
    std::vector<claimed_budget> budgets{};      ///< each id once, and no overflow_id among them
    /// Where histograms are kept whole: the histogram_family of each series, 0 for none. Empty: none has any.
    std::vector<std::uint64_t> families{};

    friend bool operator==(const claim&, const claim&) = default;
};

/// How many buckets the sets of some windows are spread over; 0: not known to the gate, or no such set.
struct bucket_counts {
    std::uint32_t hour = 0;
    std::uint32_t day = 0;
    std::uint32_t before = 0;  ///< of the hour before

    friend bool operator==(const bucket_counts&, const bucket_counts&) = default;
};

/// What a gate says with each claim about itself and the moment.
struct claim_terms {
    std::int64_t hour = 0;        ///< that it wants to be counted in: hours since the epoch
    std::uint64_t rules = 0;      ///< of all rules but the maxima: differs when they do
    std::uint64_t all_rules = 0;  ///< of the maxima, too
    std::uint32_t grace = 0;      ///< seconds of an hour in which room is kept for incumbents
    bool with_day = false;        ///< some enforced budget limits the day
    bool accepted = false;        ///< they are told of after the fact: see fleet/teller.hpp
    bool owed = false;            ///< so they are, and were let pass out of a share: see shares.hpp
    std::uint32_t reserve = 0;    ///< what of each maximum is left to shares, see reserve.hpp
    // Of what completes histograms, see margin_of: series of one, and a part of each maximum in ten-thousandths.
    std::uint64_t histogram_series_max = 200;
    std::uint32_t histogram_margin = 1'000;
    std::uint64_t room = 0;      ///< series that the hour's limits let come at most, 0: any number. Sizes a new window.
    std::uint64_t day_room = 0;  ///< the same for the day
    bucket_counts buckets{};     ///< as the gate has been told
    std::uint64_t gate = 0;      ///< another number for each run of each gate
    std::string server{};        ///< run_id of the one that it goes to, see redis_client::call_script_there
};

enum class claim_status : std::uint8_t {
    decided,
    closed,  ///< the hour is not the store's: nothing has been taken, see store_windows
    moved,   ///< the numbers of buckets were not the store's: nothing has been taken
    lost,    ///< the server may have lost counts, or others come first, see recover.lua: nothing has been taken
};

enum class claim_outcome : std::uint8_t {
    known,    ///< in the hour's set, of whichever gate
    taken,    ///< counted now
    refused,  ///< nothing has been taken
    unknown,  ///< of those that only look: in no set
    count_
};

struct series_answer {
    claim_outcome outcome = claim_outcome::unknown;
    std::uint8_t budget = 0;  ///< of those refused: the place in claim::budgets of the first that had no room
    refusing_window window = refusing_window::hourly;
    in_windows completed{};  ///< of those taken: where a budget had no room, and its histogram had begun

    friend bool operator==(const series_answer&, const series_answer&) = default;
};

/// budget_answer::awaited where it is not known how many of the hour before count against a budget: nobody else gets
/// room in it.
inline constexpr std::uint64_t all_awaited = std::numeric_limits<std::uint64_t>::max();

/// A budget after the claim.
struct budget_answer {
    bool shares = false;       ///< it is the overflow budget that has been asked in its place
    std::uint64_t hourly = 0;  ///< series counted in the hour, by all gates
    std::uint64_t daily = 0;
    std::uint64_t awaited = 0;  ///< incumbents that room is kept for, in the hour (and the day, in its first hour)

    friend bool operator==(const budget_answer&, const budget_answer&) = default;
};

/// The windows that the store has open.
struct store_windows {
    time_point now{};       ///< by the store's clock
    std::int64_t hour = 0;  ///< that is open
    bucket_counts buckets{};

    friend bool operator==(const store_windows&, const store_windows&) = default;
};

/// What a gate is told that enters the list of those that accept incumbents at once and tell of them afterwards, or
/// leaves it.
enum class telling_state : std::uint8_t {
    not_open,   ///< nobody has claimed anything in the hour yet: to be asked again
    listed,     ///< the store keeps the places of incumbents until the gate has left
    must_wait,  ///< it may not have a place for each of them: they wait as new series do
    left,
};

struct claim_answer {
    claim_status status = claim_status::decided;
    store_windows windows{};
    std::vector<series_answer> series{};   ///< as claim::fingerprints, when it is decided
    std::vector<budget_answer> budgets{};  ///< as claim::budgets, when it is decided
};

}  // namespace seriesgate
