/// A simulated gate's shares, asked for while its store can be heard: fleet/share_asking.cpp, call by call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "claim/rule_terms.hpp"
#include "claim/simulated_gate.hpp"

namespace seriesgate::testing {

/// Refers to the gate.
class simulated_sharing {
    simulated_gate& gate_;
    mutants wrong_;
    std::optional<claim_terms> terms_{};
    std::shared_ptr<const compiled_rules> rules_{};
    std::size_t all_rules_ = 0;
    bool is_answered_ = false;
    share_state last_ = share_state::not_now;

  public:
    using answer = std::pair<share_state, std::uint64_t>;

    simulated_sharing(simulated_gate& gate, const mutants& wrong) : gate_(gate), wrong_(wrong) {}

    /// As which gate it asks.
    [[nodiscard]] const std::string& name() const { return wrong_.share_of_name ? gate_.name : gate_.run_name; }
    [[nodiscard]] const claim_terms& terms() const { return *terms_; }
    [[nodiscard]] std::size_t all_rules() const { return all_rules_; }  ///< see simulated_claims

    /// Whether it is to be asked after a sign of life.
    bool is_wanted(time_point now) {
        if (gate_.reserve == 0) return false;
        const std::int64_t hour = simulated_gate::hour_number(gate_.clock(now));
        const auto rules = gate_.limiter->rules();
        if (!terms_ || hour != terms_->hour || rules != rules_) begin(hour, rules);
        return !is_answered_;
    }

    void answered(const answer& said) {
        is_answered_ = said.first != share_state::not_now;
        last_ = std::max(last_, said.first);
        gate_.own_shares.grant(terms_->hour, said.first);
    }

  private:
    void begin(std::int64_t hour, std::shared_ptr<const compiled_rules> rules) {
        if (rules_ && rules != rules_) gate_.own_shares.withdraw();
        terms_ = with_reserve(terms_of(*rules), gate_.reserve);
        terms_->hour = hour;
        rules_ = std::move(rules);
        all_rules_ = all_rules_of(gate_.rule, gate_.reserve);
        is_answered_ = false;
        if (wrong_.share_outlives_hour) gate_.own_shares.grant(hour, last_);
    }
};

}  // namespace seriesgate::testing
