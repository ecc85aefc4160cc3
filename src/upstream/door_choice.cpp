#include "upstream/door_choice.hpp"

#include <algorithm>

namespace seriesgate {
namespace {

constexpr std::uint64_t share_steps = 10;

enum class rank : std::uint8_t { trial, well, starting, turning_away, out, none };

/// Of ten rounds, a door that has just come back takes part in as many as its share is tenths; it stands in for those
/// that are well when they are full. Nobody waits for a trial.
rank rank_of(const door_view& door, std::uint64_t round) noexcept {
    if (door.tried) return rank::none;
    if (door.has_trial && door.has_room) return rank::trial;
    switch (door.standing) {
        case door_standing::well: {
            const bool takes_part = static_cast<double>(round % share_steps) < door.share * share_steps;
            return takes_part && door.has_room ? rank::well : rank::starting;
        }
        case door_standing::turning_away:
            return rank::turning_away;
        default:
            return rank::out;
    }
}

bool is_better(const door_view& one, const door_view& other, rank of) noexcept {
    return of == rank::out ? one.due < other.due : one.in_flight < other.in_flight;
}

}  // namespace

std::optional<std::size_t> choose_door(std::span<const door_view> doors, std::uint64_t turn) noexcept {
    const std::size_t count = doors.size();
    const std::uint64_t round = turn / std::max<std::size_t>(count, 1);
    rank best_rank = rank::none;
    for (const door_view& each : doors) best_rank = std::min(best_rank, rank_of(each, round));
    if (best_rank == rank::none) return std::nullopt;

    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = (turn + i) % count;
        if (!doors[at].has_room || rank_of(doors[at], round) != best_rank) continue;
        if (!best || is_better(doors[at], doors[*best], best_rank)) best = at;
    }
    return best;
}

}  // namespace seriesgate
