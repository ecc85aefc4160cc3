/// What a store that several gates share has said about the new series of one request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "limit/verdict.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// Whose counts decide.
enum class limit_scope : std::uint8_t {
    gate,   ///< this gate's alone: it decides by its own counts
    fleet,  ///< shared: series that they may refuse are decided by what a store has told, and by nothing else
};

enum class told_outcome : std::uint8_t {
    unasked,                 ///< no shared limit applies
    known,                   ///< counted before, by whichever gate
    taken,                   ///< counted now
    refused,                 ///< by the budget in `place`
    withheld,                ///< nobody has answered: refused, and not remembered
    let_pass,                ///< nobody has answered: accepted, and not remembered
    owed,                    ///< the same, and the store is to be told of it: see set_aside_owed
    refused_with_histogram,  ///< nobody was asked: another series of its histogram was refused, `like`
};

/// A budget as all gates together have filled it.
struct heard_budget {
    std::uint32_t place = 0;    ///< see budget_book::find
    std::uint64_t hourly = 0;   ///< series counted
    std::uint64_t daily = 0;    ///< the same
    std::uint64_t awaited = 0;  ///< incumbents that room is kept for, in the hour
    bool unasked = false;       ///< nobody was asked now: as heard before, and nothing of what room is kept for
};

/// About one series.
struct told_series {
    told_outcome outcome = told_outcome::unasked;
    refusing_window window = refusing_window::hourly;  ///< of those refused
    std::uint32_t place = 0;                           ///< of those refused: the budget, see budget_book::find
    std::span<const heard_budget> heard{};             ///< all shared budgets of the series
    in_windows completed{};                            ///< of those taken: had no room, and completes its histogram
    /// Of those refused with their histogram: the place in told::pending of that other series; nothing if this gate
    /// refused it in an earlier request.
    std::optional<std::uint32_t> like{};

    /// Null for a budget that is this gate's own.
    [[nodiscard]] const heard_budget* at(std::size_t wanted) const noexcept {
        for (const heard_budget& each : heard)
            if (each.place == wanted) return &each;
        return nullptr;
    }
};

/// About all that a request's lookups have left open.
struct told {
    window_span hour;                     ///< in which it was decided
    bool in_grace = false;                ///< while room may have been kept for incumbents
    std::vector<told_series> pending{};   ///< as undecided::pending
    std::vector<bool> known_followers{};  ///< as undecided::followers: whether the store knows the series
};

}  // namespace seriesgate
