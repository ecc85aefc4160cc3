#include "claim/gate_knowledge.hpp"

#include "limit/limiter.hpp"
#include "limit/telling.hpp"

namespace seriesgate {

unasked_knowledge knowledge_of(const series_limiter& limiter, const fleet_view& view, std::int64_t hour,
                               bool accepts_incumbents, bool follows_feed) {
    unasked_knowledge made{
        .in_hour = [&limiter](std::uint64_t series) { return limiter.hour_has(series); },
        .in_any = [&limiter](std::uint64_t series) { return limiter.knows(series); },
        .in_hour_before = [&limiter](std::uint64_t series) { return limiter.hour_before_has(series); },
        .accepts_incumbents = accepts_incumbents,
        .is_doubtful = [&limiter](std::uint64_t series) { return limiter.is_doubtful(series); },
        .is_over_full = [&view, hour](const shared_budget& of) { return view.is_over_full(of, hour); },
        .counted = {},
        .has_begun = [&limiter](std::uint64_t family) { return limiter.has_begun(family); },
        .is_refused = [&limiter](std::uint64_t family) { return limiter.has_refused(family); },
        .losses = losses_of(limiter)};
    const bool knows_all = follows_feed && view.state() == store_reach::joined && view.windows().hour == hour;
    if (!knows_all) return made;
    made.counted = [&view](std::uint64_t id) {
        const auto counts = view.counts_of(id);
        return counts ? counts->hourly : 0;
    };
    return made;
}

}  // namespace seriesgate
