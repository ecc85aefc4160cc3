/// Between a simulated fleet's gates and its store: claims, and what becomes of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "claim/simulated_fleet.hpp"

namespace seriesgate::testing {

/// They are lost, repeated and late at every point. Refers to the fleet.
class simulated_wire {
    simulated_fleet& fleet_;

  public:
    enum class event : std::uint8_t { none, answer, no_answer };

    explicit simulated_wire(simulated_fleet& fleet) : fleet_(fleet) {}

    /// The next thing that happens to a claim: it arrives, or its answer does, or neither.
    event go_on(simulated_gate& at, simulated_claims& of) {
        random_numbers& random = fleet_.random;
        if (of.late_until > fleet_.step) return event::none;
        if (random.one_in(50)) {
            of.late_until = fleet_.step + random.below(200);
            return event::none;
        }
        if (!at.reachable || random.one_in(40)) {
            if (random.one_in(3) && at.reachable && !of.coming) decide(at, of);  // the answer is lost
            return event::no_answer;
        }
        if (of.coming) return is_stale(of) ? event::no_answer : event::answer;
        decide(at, of);
        return event::none;
    }

    void decide(simulated_gate& at, simulated_claims& of) {
        const claim asked = at.sent(of);
        simulated_server& server = *at.server;
        of.terms.server = server.run_id;
        for (std::uint64_t times = fleet_.random.one_in(20) ? 2 : 1; times > 0; --times) {
            fleet_.servers.remember(server);
            const auto earlier = store_watch::look(server.store);
            claim_answer answer = server.store.decide(asked, of.terms, fleet_.now);
            fleet_.checks.decided(server, asked, of, answer, earlier);
            if (of.coming && !fleet_.random.one_in(2)) continue;
            of.coming = std::move(answer);
            of.answered_by = at.server;
            of.answered_at = fleet_.now;
        }
    }

  private:
    /// Nothing is waited for longer than the longest shared.timeout; and where a server has lost something, not until
    /// its counts are whole again.
    [[nodiscard]] bool is_stale(const simulated_claims& of) const {
        const time_point lost_at = of.answered_by->lost_at;
        if (fleet_.now > of.answered_at + std::chrono::seconds{10}) return true;
        return of.answered_at <= lost_at && fleet_.now > lost_at + std::chrono::milliseconds{500};
    }
};

/// Takes one out of a list of a gate's.
template <class List>
typename List::value_type taken_out(List& from, std::size_t which) {
    typename List::value_type one = std::move(from[which]);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(which));
    return one;
}

}  // namespace seriesgate::testing
