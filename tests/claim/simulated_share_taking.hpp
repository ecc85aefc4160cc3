/// What a simulated gate lets pass out of its shares: fleet/claimer.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "claim/simulated_gate.hpp"

namespace seriesgate::testing {

/// A series that nobody has answered about.
struct unanswered_series {
    std::uint64_t fingerprint = 0;
    std::span<const claimed_budget* const> budgets{};
    std::int64_t hour = 0;
};

/// A mutant's: as much as there is room for, as far as the gate knows.
inline std::optional<told_outcome> out_of_what_is_left(const simulated_gate& gate,
                                                       const std::vector<share_charge>& charges, std::int64_t hour) {
    const count_offer heard = gate.heard.grown_since(0);
    const bool has_room = std::ranges::all_of(charges, [&](const share_charge& each) {
        const auto found = std::ranges::find(heard.budgets, each.id, &offered_budget::id);
        const bool is_known = heard.hour == hour && found != heard.budgets.end();
        return each.maxima.hourly == 0 || (is_known && found->hourly < each.maxima.hourly);
    });
    return has_room ? std::optional{told_outcome::owed} : std::nullopt;
}

/// As claimer::out_of_share.
inline std::optional<told_outcome> out_of_share(simulated_gate& gate, const unanswered_series& of, bool may_be_added) {
    if (gate.own_shares.owes(of.fingerprint, of.hour)) return told_outcome::let_pass;
    if (!may_be_added) return std::nullopt;
    std::vector<share_charge> charges;
    for (const claimed_budget* const each : of.budgets) {
        charges.push_back({.id = each->id, .maxima = each->maxima});
        if (each->limit_budgets != 0 && !gate.heard.has_place(each->id, of.hour))
            charges.push_back({.id = each->overflow_id, .maxima = each->overflow_maxima});
    }
    if (gate.wrong().shares_of_heard_counts) return out_of_what_is_left(gate, charges, of.hour);
    switch (gate.own_shares.take(of.fingerprint, charges, of.hour)) {
        case shares::entry::added:
            return told_outcome::owed;
        case shares::entry::there:
            return told_outcome::let_pass;
        case shares::entry::refused:
            break;
    }
    return std::nullopt;
}

}  // namespace seriesgate::testing
