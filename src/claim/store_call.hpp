/// What a gate of a fleet and the shared store say to each other: calls, heartbeats, the feed, and their answers.
///
/// A series comes to the store by one of two kinds of calls. A claim asks for admission: the store admits it if it is
/// known, or was admitted in the hour before, or finds room. A pass tells of a series that has passed already: the
/// store counts it, always. fleet/PROTOCOL.md explains the protocol.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"

namespace seriesgate {

// --- Calls about series.

/// Series in one call, at most: the store decides about them in about a millisecond, in which it does nothing else.
inline constexpr std::size_t call_series_max = 128;
/// Budgets in one call, at most: their places in it fit into a byte.
inline constexpr std::size_t call_budgets_max = 240;

enum class call_kind : std::uint8_t {
    claim,   ///< admitted if there is room
    pass,    ///< passed already: counted in any case
    refill,  ///< as pass, after a loss: each window by itself; nothing is fed while new series wait
};

/// A budget as the store counts it. Its name and key stay in the gates.
struct shared_budget {
    std::uint64_t id = 0;
    std::uint64_t limit = 0;      ///< identifies which series count in it; one of gate_terms::limits
    series_maxima maxima{};       ///< 0: not limited in that window, or only observed
    series_maxima completions{};  ///< series that may complete histograms without room, in each window
    /// One of gate_terms::limits: identifies who shares the overflow budget. 0: there is none beside this budget.
    std::uint64_t sharing = 0;
    std::uint64_t overflow_id = 0;
    /// Names the set of groups that this budget is one of. If the set is full, a further group uses the overflow
    /// budget. 0: this budget stands alone.
    std::uint64_t group_set = 0;
    std::uint64_t groups_max = 0;
    series_maxima overflow_maxima{};
    series_maxima overflow_completions{};

    friend bool operator==(const shared_budget&, const shared_budget&) = default;
};

/// The next series of a call, which have their budgets and windows in common.
struct series_run {
    std::uint32_t series = 0;  ///< at least one
    std::vector<std::uint8_t>
        budgets{};  ///< places in store_call::budgets, each once, at least one unless it only looks
    /// None: it only asks whether the series are known. Claims enter the hour, and its day if days are counted.
    entered_windows windows{.hour = true, .day = true};
    bool completes = false;  ///< claims: they complete histograms that this gate has begun

    friend bool operator==(const series_run&, const series_run&) = default;
};

struct store_call {
    call_kind kind = call_kind::claim;
    std::vector<std::uint64_t> fingerprints{};
    std::vector<series_run> runs{};        ///< of all fingerprints, in their order
    std::vector<shared_budget> budgets{};  ///< each id once

    friend bool operator==(const store_call&, const store_call&) = default;
};

/// How many buckets the sets of some windows are spread over; 0: not known to the gate, or no such set.
struct bucket_counts {
    std::uint32_t hour = 0;
    std::uint32_t day = 0;
    std::uint32_t before = 0;  ///< of the hour before

    friend bool operator==(const bucket_counts&, const bucket_counts&) = default;
};

/// The windows that the store has open, and how their keys are named.
struct open_windows {
    time_point now{};              ///< by the store's clock
    std::int64_t hour = -1;        ///< since the epoch; -1: none
    std::uint64_t generation = 0;  ///< a part of the keys' names: another one after a loss of windows
    bucket_counts buckets{};       ///< before: 0 if there is no hour before
    bool keeps_places = false;     ///< the places of the hour before have not lapsed

    friend bool operator==(const open_windows&, const open_windows&) = default;
};

/// What a gate says of itself with each call.
struct gate_terms {
    std::string gate{};     ///< its name, which outlives a restart
    std::uint64_t run = 0;  ///< another number for each run of each gate
    time_point clock{};     ///< its own
    std::string epoch{};    ///< which names the store's data since the last loss, as heartbeats say
    std::int64_t hour = 0;  ///< that it wants to be counted in
    std::uint64_t generation = 0;
    bucket_counts buckets{};              ///< as the store has said; 0: not known
    bool with_day = false;                ///< some limit has a daily maximum
    std::vector<std::uint64_t> limits{};  ///< all that it counts here, and who shares there, in ascending order
    std::uint64_t room = 0;      ///< series that the hour's limits admit at most, 0: any number. Sizes a new window.
    std::uint64_t day_room = 0;  ///< the same for the day
};

enum class store_status : std::uint8_t {
    decided,
    closed,       ///< the hour is not the open one: nothing was taken
    moved,        ///< the windows' keys have other names, see open_windows: nothing was taken
    other_epoch,  ///< data was lost, or never known: nothing was taken, a heartbeat says more
};

enum class store_outcome : std::uint8_t {
    known,      ///< counted before, by any gate
    taken,      ///< counted now
    completed,  ///< the same, without room: it completes a histogram
    refused,
    waits,    ///< a refill after a loss is under way: nobody knows yet whether there is room
    unknown,  ///< a run that only looks: in no set
    count_
};

struct series_decision {
    store_outcome outcome = store_outcome::unknown;
    in_windows without_room{};  ///< if completed
    std::uint8_t budget = 0;    ///< if refused: place in store_call::budgets of the first without room
    refusing_window window = refusing_window::hourly;  ///< if refused

    friend bool operator==(const series_decision&, const series_decision&) = default;
};

/// budget_in_store::kept if nobody knows how many series of the hour before count in a budget: new series get no room.
inline constexpr std::uint64_t all_kept = std::numeric_limits<std::uint64_t>::max();

/// A budget after the call.
struct budget_in_store {
    bool is_overflow = false;  ///< the overflow budget was used in its place
    std::uint64_t hourly = 0;  ///< series counted, by all gates
    std::uint64_t daily = 0;
    std::uint64_t kept = 0;  ///< places of the hour before that are kept, in the hour and in a day's first hour

    friend bool operator==(const budget_in_store&, const budget_in_store&) = default;
};

struct store_answer {
    store_status status = store_status::decided;
    open_windows windows{};
    std::vector<series_decision> series{};   ///< as store_call::fingerprints, if decided
    std::vector<budget_in_store> budgets{};  ///< as store_call::budgets, if decided

    friend bool operator==(const store_answer&, const store_answer&) = default;
};

// --- Heartbeats.

/// Longest silence that a heartbeat's answer reports, in seconds.
inline constexpr std::int64_t silent_max = 7200;

/// A gate that gave a sign of life in this hour or in the one before.
struct gate_heard_of {
    std::string name{};
    std::int64_t hour = 0;  ///< of its last heartbeat
    std::string version{};
    std::int64_t silent_seconds = 0;  ///< since then, by that gate's clock and the store's; at most silent_max

    friend bool operator==(const gate_heard_of&, const gate_heard_of&) = default;
};

struct heartbeat {
    std::string gate{};
    std::string fingerprints{};  ///< what this gate's depend on
    std::string version{};
    time_point clock{};
    std::string epoch{};     ///< that it knows; nothing: none
    std::int64_t hour = -1;  ///< that it knows to be open
    std::uint64_t generation = 0;
    /// Nothing of that hour is left to tell. From now on this gate claims its incumbents as it claims new series.
    bool is_told = false;
    bool has_lapsed = false;  ///< with is_told: the gate has heard that the places of that hour have lapsed
    /// Progress of this epoch's refill: a growing number. Nothing: it is done, or not needed.
    std::optional<std::uint64_t> refilled{};
    std::chrono::seconds grace{};
    bool leaves = false;
    std::vector<gate_heard_of> heard_of{};  ///< if it must refill: the other gates that it knew of
};

enum class heartbeat_status : std::uint8_t {
    heard,
    other_epoch,  ///< answers of the feed only
    foreign,      ///< other gates of the namespace make other fingerprints
};

/// What the store says of itself.
struct store_state {
    heartbeat_status status = heartbeat_status::heard;
    open_windows windows{};
    std::string epoch{};
    bool is_refilling = false;     ///< new series wait
    std::uint64_t fed = 0;         ///< series in the feed since its begin
    std::chrono::seconds ahead{};  ///< the clock of most gates before the store's; 0 if this gate agrees with that

    friend bool operator==(const store_state&, const store_state&) = default;
};

struct heartbeat_answer {
    store_state state{};
    std::vector<gate_heard_of> gates{};
};

// --- The feed.

/// Calls in one answer of the feed, at most: some 200 KB.
inline constexpr std::size_t feed_entries_max = 128;

/// Series of one call that were taken, with what they have in common.
struct fed_run {
    entered_windows windows{};
    std::vector<std::uint64_t> fingerprints{};
    std::vector<std::uint8_t> budgets{};  ///< places in fed_call::budgets

    friend bool operator==(const fed_run&, const fed_run&) = default;
};

/// The counts of a budget after a call.
struct fed_budget {
    std::uint64_t id = 0;  ///< of the overflow budget if that was used
    std::uint64_t hourly = 0;
    std::uint64_t daily = 0;
    std::uint64_t before = 0;  ///< of the hour before; 0 if the call entered none there

    friend bool operator==(const fed_budget&, const fed_budget&) = default;
};

/// What one call has taken.
struct fed_call {
    std::uint64_t upto = 0;  ///< series in the feed with these
    std::uint64_t run = 0;   ///< see gate_terms
    std::int64_t hour = 0;
    std::vector<fed_run> runs{};
    std::vector<fed_budget> budgets{};

    friend bool operator==(const fed_call&, const fed_call&) = default;
};

struct feed_page {
    store_state state{};
    std::vector<fed_call> calls{};
};

}  // namespace seriesgate
