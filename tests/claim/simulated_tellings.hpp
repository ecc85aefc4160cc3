/// What a simulated fleet's gates tell their store of afterwards: fleet/teller.cpp, step by step.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "claim/simulated_asking.hpp"
#include "claim/simulated_wire.hpp"

namespace seriesgate::testing {

/// Series that were accepted at once, or let pass out of a share. Refers to the fleet.
class simulated_tellings {
    simulated_fleet& fleet_;
    simulated_wire& wire_;

  public:
    simulated_tellings(simulated_fleet& fleet, simulated_wire& wire) : fleet_(fleet), wire_(wire) {}

    void begin(std::size_t number) {
        simulated_gate& at = gate(number);
        auto telling = taken_out(at.queue, 0);
        if (asking(number).is_too_late(*telling, fleet_.now)) return drop(number, std::move(telling));
        const bool goes_on = asking(number).tell(*telling);
        at.tellings.push_back(std::move(telling));
        if (goes_on) return;
        const std::size_t which = at.tellings.size() - 1;
        at.tellings[which]->answers.empty() ? told_all(number, which) : try_again(number, which);
    }

    void go_on(std::size_t number, std::size_t which) {
        switch (wire_.go_on(gate(number), *gate(number).tellings[which])) {
            case simulated_wire::event::none:
                return;
            case simulated_wire::event::no_answer:
                return try_again(number, which);
            case simulated_wire::event::answer:
                return told(number, which);
        }
    }

    /// No answer comes any more.
    void end_all(std::size_t number) {
        while (!gate(number).tellings.empty()) try_again(number, gate(number).tellings.size() - 1);
    }

    /// Until the gate has told of all, or the store does not decide about the next.
    void tell_all(std::size_t number) {
        for (std::size_t left = gate(number).queue.size() + 1; gate(number).queue.size() < left;) {
            left = gate(number).queue.size();
            if (left == 0) return;
            begin(number);
            while (!gate(number).tellings.empty()) {
                wire_.decide(gate(number), *gate(number).tellings.back());
                told(number, gate(number).tellings.size() - 1);
            }
        }
    }

  private:
    [[nodiscard]] simulated_gate& gate(std::size_t number) const { return *fleet_.gates[number]; }
    [[nodiscard]] simulated_asking asking(std::size_t number) const { return simulated_asking{gate(number)}; }

    void told(std::size_t number, std::size_t which) {
        using progress = simulated_asking::progress;
        switch (asking(number).take_answer(*gate(number).tellings[which], fleet_.now)) {
            case progress::asks:
                return;
            case progress::answered:
                return told_all(number, which);
            case progress::closed:
                return drop(number, taken_out(gate(number).tellings, which));
            case progress::unanswered:
                return try_again(number, which);
        }
    }

    void told_all(std::size_t number, std::size_t which) {
        const auto telling = taken_out(gate(number).tellings, which);
        asking(number).settle(*telling, fleet_.now);
        fleet_.checks.told(number, *telling);
    }

    void drop(std::size_t number, std::unique_ptr<simulated_telling> telling) {
        asking(number).forget(*telling);
        fleet_.checks.dropped(gate(number), *telling);
    }

    void try_again(std::size_t number, std::size_t which) {
        gate(number).queue.push_front(taken_out(gate(number).tellings, which));
    }
};

}  // namespace seriesgate::testing
