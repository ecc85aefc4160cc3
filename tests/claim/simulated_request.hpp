/// What is under way in a simulated gate: requests, and series that it tells the store of afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "claim/questions.hpp"
#include "claim/simulated_servers.hpp"
#include "limit/labelled.hpp"
#include "limit/untold.hpp"

namespace seriesgate::testing {

/// Differs where the store is told of other rules, or other maxima: see with_reserve.
inline std::size_t all_rules_of(std::size_t rule, reserve_parts reserve) {
    return 2 * rule + (reserve == 0 ? 0 : 1);
}

/// Some questions and how far they have come: what claimer.cpp keeps in its coroutines.
struct simulated_claims {
    questions asked{hash_key::known_to_all()};
    std::size_t rule = 0;       ///< which rules the series were selected by
    reserve_parts reserve = 0;  ///< that the gate leaves
    std::uint64_t reloads = 0;  ///< of the gate until then
    int moves = 0;              ///< of the claim that is under way
    claim_terms terms{};        ///< the same
    std::vector<std::optional<claim_answer>> answers{};
    std::size_t next = 0;                             ///< the claim that is under way
    std::optional<claim_answer> coming{};             ///< its answer
    std::shared_ptr<simulated_server> answered_by{};  ///< who has given it
    time_point answered_at{};
    std::uint64_t late_until = 0;  ///< nothing happens to it before this step

    [[nodiscard]] const claim& current() const { return asked.claims()[next]; }
    [[nodiscard]] std::size_t all_rules() const { return all_rules_of(rule, reserve); }
};

/// A request on its way through a gate.
struct simulated_request : simulated_claims {
    std::size_t tenant = 0;
    std::vector<offered_series> offered{};
    std::vector<verdict> verdicts{};
    lookup_result open{};
    shown_labels labels{};
    int hours = 0;                              ///< it has been asked in
    std::vector<std::uint64_t> at_once{};       ///< series that were accepted without asking, when it was asked last
    std::vector<std::uint64_t> aside{};         ///< those of them that have to be told of
    std::vector<std::uint32_t> pending{};       ///< as undecided::pending, which is used up
    std::vector<told_outcome> told_outcomes{};  ///< of pending, when it has been settled
    std::vector<std::uint64_t> unasked{};       ///< refused because a budget of theirs is known to be spent
    window_span told_hour{};                    ///< in which it was decided
};

/// Series of a request that were accepted at once, or let pass out of a share, on their way to the store. `asked` is
/// empty until they are told.
struct simulated_telling : simulated_claims {
    untold one;
    std::vector<told_outcome> told_outcomes{};  ///< of its series, when they have been told; unasked: others have told
};

}  // namespace seriesgate::testing
