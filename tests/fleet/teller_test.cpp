#include "fleet/teller.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <functional>
#include <string>

#include "fleet/store_process.hpp"
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;
using namespace testing;

const limit_rules at_most_ten{.global = {.hourly = 10, .daily = 0}};

/// As gates find it when a recovery has ended.
void say_that_it_is_whole(const store_process& store) {
    store_connection connection{store};
    const std::string info = connection.text({"INFO", "server"}), key = "run_id:";
    const std::size_t begin = info.find(key) + key.size();
    const std::string run_id = info.substr(begin, info.find('\r', begin) - begin);
    connection.ask({"HSET", store_keys{"default"}.head(), "server", run_id});
}

/// A worker of a gate, and its store, which has just been begun.
struct telling {
    shared_config settings;
    fleet_metrics metrics;
    fleet_shared shared;
    series_limiter limiter;
    net::io_context io;
    claimer claims;
    teller under_test;

    explicit telling(const store_process& store) : telling(store.socket()) { say_that_it_is_whole(store); }

    explicit telling(const std::string& socket)
        : settings{.url = "unix://" + socket, .store = {.unix_path = socket, .timeout = 5s}},
          shared{settings, metrics},
          limiter{at_most_ten, shared.now(), hash_key::known_to_all(), limit_scope::fleet, tested_set()},
          claims{io, shared},
          under_test{io, shared, claims, limiter, hash_key::known_to_all()} {
        for (int i = 0; i < 2; ++i) net::co_spawn(io, under_test.run(), net::detached);
    }

    /// Series that were accepted in the hour of that moment.
    untold accepted(std::uint64_t count, time_point when) {
        untold made{.tenant = "shop"};
        made.open.hour = hour_of(when);
        made.open.rules = limiter.rules();
        shared.untold.accept(made.open.hour, made.open.rules);
        for (std::uint64_t i = 0; i < count; ++i) {
            made.series.push_back({.fingerprint = fingerprint_of(i), .samples = 0, .admits = true});
            made.open.pending.push_back(static_cast<std::uint32_t>(i));
            REQUIRE(made.open.selections.append(*made.open.rules, "shop", {}));
            CHECK(shared.untold.add(made.open.hour, *made.open.rules, fingerprint_of(i)) ==
                  untold_series::entry::added);
        }
        made.open.refused_by.resize(count);
        return made;
    }

    bool runs_until(const std::function<bool()>& holds) {
        const auto limit = std::chrono::steady_clock::now() + 20s;
        io.restart();
        while (!holds() && std::chrono::steady_clock::now() < limit) io.run_one_for(10ms);
        return holds();
    }
    [[nodiscard]] std::uint64_t told(claim_outcome outcome) const { return metrics.told[outcome].value(); }
};

TEST_CASE("the store is told, and what it has taken is known from then on") {
    const store_process store;
    telling gate{store};
    gate.shared.set_state(fleet_state::joined);
    gate.under_test.take(gate.accepted(12, gate.shared.now()));
    CHECK(gate.shared.untold.size() == 12);
    REQUIRE(gate.runs_until([&] { return gate.shared.untold.size() == 0; }));
    CHECK(gate.told(claim_outcome::taken) == 10);
    CHECK(gate.told(claim_outcome::refused) == 2);
    for (std::uint64_t i = 0; i < 12; ++i) CHECK(gate.limiter.knows(fingerprint_of(i)) == (i < 10));
}

TEST_CASE("a store that is away is told when it is back") {
    const store_process store;
    telling gate{store};
    gate.shared.set_state(fleet_state::away);
    gate.under_test.take(gate.accepted(3, gate.shared.now()));
    gate.under_test.take(gate.accepted(0, gate.shared.now()));
    gate.io.poll();
    CHECK(gate.shared.untold.size() == 3);
    gate.shared.set_state(fleet_state::joined);
    REQUIRE(gate.runs_until([&] { return gate.shared.untold.size() == 0; }));
    CHECK(gate.told(claim_outcome::taken) == 3);
}

TEST_CASE("what is of an hour that is over is told to nobody") {
    const store_process store;
    telling gate{store};
    gate.shared.set_state(fleet_state::joined);
    gate.under_test.take(gate.accepted(3, gate.shared.now() - 1h));
    gate.io.poll();
    CHECK(gate.shared.untold.size() == 0);
    CHECK(gate.metrics.told_too_late.value() == 3);
    CHECK(gate.told(claim_outcome::taken) == 0);
}

TEST_CASE("when the time goes back over an hour's edge, what is of the new hour is kept") {
    const store_process store;
    telling gate{store};
    gate.shared.set_state(fleet_state::away);
    gate.under_test.take(gate.accepted(3, gate.shared.now() + 1h));
    gate.io.poll();
    CHECK(gate.shared.untold.size() == 3);
    CHECK(gate.metrics.told_too_late.value() == 0);
}

TEST_CASE("with much in the queue no more is accepted at once") {
    const store_process store;
    telling gate{store};
    CHECK(gate.under_test.at_once() == &gate.shared.untold);
    untold large = gate.accepted(0, gate.shared.now());
    large.series.resize(2u << 20);
    gate.under_test.take(large);
    CHECK(gate.under_test.at_once() == &gate.shared.untold);
    gate.under_test.take(large);
    CHECK(gate.under_test.at_once() == nullptr);
}

}  // namespace
}  // namespace seriesgate
