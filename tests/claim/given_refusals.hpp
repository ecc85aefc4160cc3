/// What a store has refused a simulated gate: nothing else may be remembered there.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <set>

#include "claim/simulated_gate.hpp"

namespace seriesgate::testing {

/// In which room is kept for incumbents, as limit_rules has it.
inline constexpr std::chrono::seconds simulated_grace = std::chrono::minutes{10};

inline time_point grace_end_of(std::int64_t hour) {
    return time_point{std::chrono::hours{hour} + simulated_grace};
}

inline bool was_in_grace(const claim_answer& answer) {
    return answer.windows.now < grace_end_of(answer.windows.hour);
}

/// Of one gate.
class given_refusals {
    struct given {
        std::int64_t hour;
        std::uint64_t reloads;  ///< of the gate, when it asked
        bool in_grace;
        friend auto operator<=>(const given&, const given&) = default;
    };
    std::map<std::uint64_t, std::set<given>> by_series_;

  public:
    /// Of a request: what was refused unasked is so for all of the hour.
    void note(const simulated_request& request) {
        for (const std::uint64_t series : request.unasked)
            by_series_[series].insert(
                {.hour = request.asked.terms().hour, .reloads = request.reloads, .in_grace = false});
        note_answers(request);
    }
    /// Of what has been told of afterwards.
    void note_answers(const simulated_claims& request) {
        for (std::size_t i = 0; i < request.answers.size(); ++i) {
            const auto& answer = request.answers[i];
            if (!answer) continue;
            for (std::size_t at = 0; at < answer->series.size(); ++at) {
                if (answer->series[at].outcome != claim_outcome::refused) continue;
                auto& all = by_series_[request.asked.claims()[i].fingerprints[at]];
                std::erase_if(all, [&](const given& each) { return each.hour + 3 < request.terms.hour; });
                all.insert({.hour = request.terms.hour, .reloads = request.reloads, .in_grace = was_in_grace(*answer)});
            }
        }
    }

    /// In the hour and by the rules of the gate.
    [[nodiscard]] bool has(const simulated_gate& gate, std::uint64_t series, bool of_the_grace_too) const {
        const auto found = by_series_.find(series);
        return found != by_series_.end() && std::ranges::any_of(found->second, [&](const given& each) {
                   return each.hour == gate.hour() && each.reloads == gate.reloads &&
                          (of_the_grace_too || !each.in_grace);
               });
    }

    void forget() { by_series_.clear(); }
};

}  // namespace seriesgate::testing
