/// A simulated gate's place on the list of those that tell later: fleet/enrolment.cpp, call by call.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "claim/count_offer.hpp"
#include "claim/rule_terms.hpp"
#include "claim/simulated_gate.hpp"

namespace seriesgate::testing {

class simulated_enrolment {
    simulated_gate& gate_;
    mutants wrong_;
    std::optional<claim_terms> terms_{};
    std::shared_ptr<const compiled_rules> rules_{};
    std::optional<std::int64_t> changed_in_{};
    bool is_answered_ = false;
    bool may_be_listed_ = false;
    bool leaves_ = false;
    bool is_awaited_ = false;

  public:
    simulated_enrolment(simulated_gate& gate, const mutants& wrong)
        : gate_(gate), wrong_(wrong), rules_(gate.limiter->rules()) {
        gate_.heard.count_by(terms_of(*rules_));
    }

    enum class call : std::uint8_t { none, enter, leave };

    [[nodiscard]] const claim_terms& terms() const { return *terms_; }

    /// What is to be asked after a sign of life.
    call keep(time_point now) {
        const time_point clock = gate_.clock(now);
        const std::int64_t hour = simulated_gate::hour_number(clock);
        const auto rules = gate_.limiter->rules();
        if (!terms_ || hour != terms_->hour || rules != rules_) begin(hour, rules);
        if (may_enter(clock)) {
            if (is_answered_) return call::none;
            may_be_listed_ = true;
            return call::enter;
        }
        return may_be_listed_ ? leave() : call::none;
    }

    void entered(telling_state state, time_point now) {
        if (state == telling_state::not_open) return;
        is_answered_ = true;
        const bool may = state == telling_state::listed || wrong_.accepts_though_it_must_wait;
        const time_point clock = gate_.clock(now);
        if (may && !leaves_ && terms_->hour == simulated_gate::hour_number(clock))
            gate_.untold.accept(hour_of(clock), rules_);
    }

    void left() {
        may_be_listed_ = false;
        is_awaited_ = false;
    }

    untold_series_of interrupt() {
        gate_.untold.stop();
        if (!terms_) return {};
        leaves_ = may_be_listed_ = true;
        is_awaited_ = gate_.untold.size() != 0;
        if (!is_awaited_) return {};
        return {.name = gate_.run_name, .hour = terms_->hour};
    }

    [[nodiscard]] std::optional<std::chrono::nanoseconds> until_next(time_point now) const {
        using namespace std::chrono_literals;
        if (is_awaited_) return 50ms;
        const time_point clock = gate_.clock(now);
        const bool is_this_hour = terms_ && terms_->hour == simulated_gate::hour_number(clock);
        if (!terms_ || (is_this_hour && (is_answered_ || !may_enter(clock)))) return std::nullopt;
        const std::chrono::nanoseconds age = clock - hour_of(clock).start;
        return std::clamp<std::chrono::nanoseconds>(age / 10, 10ms, 1s);
    }

  private:
    call leave() {
        leaves_ = true;
        gate_.untold.stop();
        return gate_.untold.size() == 0 || wrong_.leaves_with_untold ? call::leave : call::none;
    }

    void begin(std::int64_t hour, std::shared_ptr<const compiled_rules> rules) {
        gate_.untold.stop();
        if (!terms_ || terms_->hour != hour) may_be_listed_ = leaves_ = is_awaited_ = false;
        if (rules_ && rules != rules_) changed_in_ = terms_ ? hour : hour + 1;
        terms_ = with_reserve(terms_of(*rules), gate_.reserve);
        terms_->hour = hour;
        gate_.heard.count_by(*terms_);
        rules_ = std::move(rules);
        is_answered_ = false;
    }

    [[nodiscard]] bool may_enter(time_point clock) const {
        const bool in_grace =
            clock < time_point{std::chrono::hours{terms_->hour}} + std::chrono::seconds{terms_->grace};
        const bool is_after_others = changed_in_ && terms_->hour <= *changed_in_ + 1;
        return in_grace && !leaves_ && (!is_after_others || wrong_.at_once_after_other_rules);
    }
};

}  // namespace seriesgate::testing
