#include "upstream/load_balancer.hpp"

#include <algorithm>

namespace seriesgate {
namespace {

constexpr std::uint64_t share_steps = 10;

enum class rank : std::uint8_t { trial, well, starting, turning_away, out, none };

/// Of ten rounds, a backend that has just come back takes part in as many as its share is tenths; it stands in for
/// those that are well when they are full. Nobody waits for a trial.
rank rank_of(const backend_view& backend, std::uint64_t round) noexcept {
    if (backend.tried) return rank::none;
    if (backend.has_trial && backend.has_room) return rank::trial;
    switch (backend.state) {
        case backend_state::healthy: {
            const bool takes_part = static_cast<double>(round % share_steps) < backend.share * share_steps;
            return takes_part && backend.has_room ? rank::well : rank::starting;
        }
        case backend_state::overloaded:
            return rank::turning_away;
        default:
            return rank::out;
    }
}

bool is_better(const backend_view& one, const backend_view& other, rank of) noexcept {
    return of == rank::out ? one.due < other.due : one.in_flight < other.in_flight;
}

}  // namespace

std::optional<std::size_t> choose_backend(std::span<const backend_view> backends, std::uint64_t turn) noexcept {
    const std::size_t count = backends.size();
    const std::uint64_t round = turn / std::max<std::size_t>(count, 1);
    rank best_rank = rank::none;
    for (const backend_view& each : backends) best_rank = std::min(best_rank, rank_of(each, round));
    if (best_rank == rank::none) return std::nullopt;

    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = (turn + i) % count;
        if (!backends[at].has_room || rank_of(backends[at], round) != best_rank) continue;
        if (!best || is_better(backends[at], backends[*best], best_rank)) best = at;
    }
    return best;
}

}  // namespace seriesgate
