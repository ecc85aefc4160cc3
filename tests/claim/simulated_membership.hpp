/// One gate in a simulated fleet: fleet/membership.cpp and fleet/recovery.cpp, call by call.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "claim/share_watch.hpp"
#include "claim/simulated_enrolment.hpp"
#include "claim/simulated_gate.hpp"
#include "claim/simulated_sharing.hpp"

namespace seriesgate::testing {

/// A call goes out, is executed, and is answered: three steps, between which anything may happen. Refers to the gate.
class simulated_membership {
    enum class call : std::uint8_t { none, beat, offer, enter, leave, share };

    static constexpr std::size_t budgets_per_offer = 3;  // few, so that an offer takes several
    static constexpr int beginnings_max = 3;

    simulated_gate& gate_;
    mutants wrong_;
    simulated_enrolment enrolment_;
    simulated_sharing sharing_;
    std::vector<std::string> others_{};
    bool is_recovering_ = false;
    std::optional<time_point> entered_{};  // the recovery that it has offered in
    std::uint64_t offered_up_to_ = 0;

    call under_way_ = call::none;
    std::shared_ptr<simulated_server> executed_by_{};  // null: it has not been
    std::shared_ptr<simulated_server> heard_from_{};   // whose answer came last
    simulated_store::beat_said beat_said_{};
    recovery_answer offer_said_{};
    telling_state telling_said_{};
    simulated_sharing::answer share_said_{};

    // An offer of several calls.
    recovery_words words_{};
    count_offer all_{};
    std::size_t at_ = 0;
    int beginnings_ = 0;

  public:
    time_point executed_at{};
    time_point next_beat;  ///< when it is due; or when the one that is under way was

    simulated_membership(simulated_gate& gate, const mutants& wrong, time_point now)
        : gate_(gate), wrong_(wrong), enrolment_(gate, wrong), sharing_(gate, wrong), next_beat(now) {}

    [[nodiscard]] bool is_under_way() const { return under_way_ != call::none; }
    [[nodiscard]] bool is_beat() const { return under_way_ == call::beat; }
    /// It has offered a part, and now the next.
    [[nodiscard]] bool is_amid_offer() const { return under_way_ == call::offer && at_ != 0; }
    [[nodiscard]] const simulated_server* executed_by() const { return executed_by_.get(); }

    /// What the store has just said about the gate's shares, if that was asked.
    [[nodiscard]] std::optional<share_watch::grant> share_said() const {
        if (under_way_ != call::share || executed_by_ == nullptr) return std::nullopt;
        return share_watch::grant{
            .hour = sharing_.terms().hour, .state = share_said_.first, .number = share_said_.second};
    }
    [[nodiscard]] const simulated_sharing& sharing() const { return sharing_; }

    [[nodiscard]] const std::shared_ptr<simulated_server>& heard_from() const { return heard_from_; }

    void start_beat() { under_way_ = call::beat; }

    /// At the server that the gate is connected to.
    void execute(time_point now) {
        simulated_server& at = *gate_.server;
        executed_by_ = gate_.server;
        executed_at = now;
        claim_terms terms;
        if (under_way_ == call::enter || under_way_ == call::leave) {
            terms = enrolment_.terms();
            terms.server = at.run_id;
        }
        if (under_way_ == call::share) {
            terms = sharing_.terms();
            terms.server = at.run_id;
            share_said_ = at.store.share(sharing_.name(), terms);
        }
        if (under_way_ == call::beat) beat_said_ = at.store.beat(gate_.name, at.run_id, now);
        if (under_way_ == call::offer) offer_said_ = at.store.recover(words_, all_, piece(), at.run_id, now);
        if (under_way_ == call::enter) telling_said_ = at.store.enter(gate_.run_name, terms, now);
        if (under_way_ == call::leave) telling_said_ = at.store.leave(gate_.run_name, terms);
    }

    /// Nothing is heard of it.
    void fail(time_point now) {
        const bool was_beat = under_way_ == call::beat || under_way_ == call::offer;
        end(now);
        if (!was_beat) return;
        is_recovering_ = false;
        if (gate_.state != simulated_state::joining) gate_.state = simulated_state::away;
        next_beat = now + std::chrono::seconds{1};
    }

    void hear(time_point now) {
        heard_from_ = executed_by_;
        switch (under_way_) {
            case call::beat:
                return hear_beat(now);
            case call::offer:
                return hear_offer(now);
            case call::enter:
                enrolment_.entered(telling_said_, now);
                return ask_for_share(now);
            case call::leave:
                enrolment_.left();
                return ask_for_share(now);
            case call::share:
                sharing_.answered(share_said_);
                return end(now);
            case call::none:
                break;
        }
    }

  private:
    void hear_beat(time_point now) {
        gate_.hear(beat_said_.now, now);
        if (!beat_said_.is_whole || !gate_.has_offered_in(beat_said_.since)) return recover(now);
        others_ = beat_said_.alive;
        joined(now);
    }

    void recover(time_point now) {
        if (!is_recovering_) {
            gate_.offered_in.clear();
            gate_.has_offered_all = false;
            entered_.reset();
            offered_up_to_ = 0;
        }
        words_ = {.gate = gate_.name, .others = others_, .untold = enrolment_.interrupt()};
        if (wrong_.untold_not_announced) words_.untold = {};
        beginnings_ = 0;
        begin_offer(now);
    }

    void begin_offer(time_point now) {
        all_ = gate_.heard.grown_since(offered_up_to_);
        if (wrong_.nothing_offered) all_.budgets.clear();
        gate_.has_offered_all = false;
        at_ = 0;
        next_piece(now);
    }

    [[nodiscard]] std::span<const offered_budget> piece() const {
        const std::span<const offered_budget> budgets{all_.budgets};
        return budgets.subspan(at_, std::min(budgets_per_offer, budgets.size() - at_));
    }

    void next_piece(time_point now) {
        words_.is_last = at_ + budgets_per_offer >= all_.budgets.size();
        words_.in = gate_.offered_in;
        if (entered_) words_.waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - *entered_);
        go(call::offer);
    }

    void hear_offer(time_point now) {
        const bool is_another = offer_said_.since != gate_.offered_in && (offered_up_to_ != 0 || at_ != 0);
        if (offer_said_.since != gate_.offered_in || !entered_) entered_ = now;
        gate_.offered_in = offer_said_.since;
        if (is_another) {
            offered_up_to_ = 0;
            if (++beginnings_ == beginnings_max) return recovers(now);
            return begin_offer(now);
        }
        at_ += budgets_per_offer;
        if (at_ < all_.budgets.size()) return next_piece(now);
        gate_.has_offered_all = true;
        offered_up_to_ = all_.revision;
        offer_said_.is_whole ? joined(now) : recovers(now);
    }

    void recovers(time_point now) {
        is_recovering_ = true;
        if (gate_.state != simulated_state::joining) gate_.state = simulated_state::recovering;
        end(now);
    }

    void joined(time_point now) {
        is_recovering_ = false;
        gate_.state = simulated_state::joined;
        const simulated_enrolment::call wanted = enrolment_.keep(now);
        if (wanted == simulated_enrolment::call::none) return ask_for_share(now);
        go(wanted == simulated_enrolment::call::enter ? call::enter : call::leave);
    }

    void ask_for_share(time_point now) { sharing_.is_wanted(now) ? go(call::share) : end(now); }

    void go(call next) {
        under_way_ = next;
        executed_by_.reset();
    }

    void end(time_point now) {
        using namespace std::chrono_literals;
        go(call::none);
        std::chrono::nanoseconds pause = 1s;
        if (is_recovering_) {
            pause = 200ms;
        } else if (gate_.state == simulated_state::joined) {
            const auto edge = gate_.until_hour_ends(now);
            if (edge <= pause) pause = std::max<std::chrono::nanoseconds>(edge, 10ms);
            pause = std::min(pause, enrolment_.until_next(now).value_or(pause));
        }
        next_beat = now + pause;
    }
};

}  // namespace seriesgate::testing
