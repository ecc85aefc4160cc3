/// A gate that has joined the fleet of a real store and knows nothing: for tests and benchmarks of what it reads there.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "fleet/fleet_shared.hpp"
#include "fleet/shared_store.hpp"
#include "limit/limiter.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

struct joined_gate {
    shared_config settings{.url = "unix:",
                           .store = {.unix_path = the_store().socket(), .timeout = std::chrono::seconds{5}},
                           .name_space = "t"};
    fleet_metrics metrics;
    fleet_shared shared{settings, {"gate", "1", "f"}, metrics};
    series_limiter limiter;
    net::io_context io;

    joined_gate(const limit_rules& rules, time_point now, const open_windows& heard, const std::string& epoch = "epoch")
        : limiter{rules, now, hash_key::known_to_all(), limit_scope::fleet, set_kind::exact} {
        shared.view.begin(epoch, heard);
        shared.view.set_state(store_reach::joined);
        shared.view.clock.correct(now, heard.hour, fleet_shared::clocks().steady, now);
    }

    /// How many of these the hour has.
    [[nodiscard]] std::uint64_t known(std::uint64_t first, std::uint64_t count) const {
        std::uint64_t found = 0;
        for (std::uint64_t i = first; i < first + count; ++i) found += limiter.hour_has(fingerprint_of(i)) ? 1 : 0;
        return found;
    }
    /// @return whether it came to be so, within 20 s.
    bool runs_until(const std::function<bool()>& it_is_so) {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (!it_is_so() && std::chrono::steady_clock::now() < give_up) io.run_one_for(std::chrono::milliseconds{10});
        return it_is_so();
    }
};

}  // namespace seriesgate::testing
