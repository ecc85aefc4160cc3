// What a gate makes of what others have taken.
#include "fleet/feed.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <string>

#include "fleet/claim_store.hpp"
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate {
namespace feed_test {
namespace {

using namespace std::chrono_literals;
using namespace testing;

constexpr std::uint64_t another_gate = 77;
constexpr std::uint64_t budget = 5;

std::vector<std::uint64_t> fingerprints(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> made;
    for (std::uint64_t i = first; i < first + count; ++i) made.push_back(fingerprint_of(i));
    return made;
}

/// A gate that shares, with a feed that has begun its hour.
struct reader {
    shared_config settings{.url = "redis://store.test", .store = {.timeout = 200ms}};
    fleet_metrics metrics;
    fleet_shared shared{settings, metrics};
    time_point now = shared.now();
    window_span hour = hour_of(now);
    std::int64_t number = std::chrono::floor<std::chrono::hours>(now).time_since_epoch().count();
    series_limiter limiter{{.global = {.hourly = 10}}, now, hash_key::known_to_all(), limit_scope::fleet, tested_set()};
    net::io_context io;
    feed::clock::time_point sent = feed::clock::now();
    feed under_test{io, shared};

    reader() {
        shared.set_state(fleet_state::joined);
        under_test.begin(number);
    }

    /// The series first to upto - 1, taken by one claim.
    [[nodiscard]] fed_claim claim_of(std::uint64_t first, std::uint64_t upto, std::uint64_t gate = another_gate) const {
        return {.upto = upto,
                .gate = gate,
                .fingerprints = fingerprints(first, upto - first),
                .hourly = {{.id = budget, .series = upto}},
                .daily = {{.id = budget, .series = upto + 100}}};
    }
    bool take(std::vector<fed_claim> claims, std::uint64_t series) {
        const bool taken =
            under_test.take({.is_whole = true, .series = series, .claims = std::move(claims)}, sent, limiter);
        return taken;
    }
    [[nodiscard]] bool knows(std::uint64_t series) const { return limiter.knows(fingerprint_of(series)); }
    [[nodiscard]] bool is_fresh(feed::clock::duration later = 0s) const {
        return shared.feed.fresh_hour(sent + later) == number;
    }
};

TEST_CASE("what other gates have taken is known, and how full their budgets are") {
    reader gate;
    CHECK_FALSE(gate.is_fresh());
    REQUIRE(gate.take({gate.claim_of(0, 2), gate.claim_of(2, 5)}, 5));
    for (std::uint64_t i = 0; i < 6; ++i) CHECK(gate.knows(i) == (i < 5));
    CHECK(gate.shared.heard.fed(gate.number, budget).hourly == 5);
    CHECK(gate.shared.heard.fed(gate.number, budget).daily == 105);
    CHECK(gate.shared.heard.fed(gate.number - 1, budget).hourly == 0);
    CHECK(gate.metrics.fed_series.value() == 5);
    CHECK(gate.metrics.feed_gaps.value() == 0);
    // Its series flow on, so a store that has lost counts is to have them again. The feed does not say on which shelf.
    const count_offer offered = gate.shared.heard.grown_since(0);
    CHECK(offered.hour == gate.number);
    CHECK(offered.buckets == bucket_counts{.hour = 4096, .day = 4096});
    CHECK(offered.budgets == std::vector<offered_budget>{{.id = budget, .hourly = 5, .daily = 105}});
}

TEST_CASE("fed counts are offered, of budgets that the gate has asked about on their shelf") {
    reader gate;
    const claim asked{.budgets = {{.id = budget, .maxima = {.hourly = 10}, .limit_budgets = 3, .places_max = 9}}};
    claim_answer said{.windows = {.hour = gate.number}, .budgets = {{.hourly = 1, .daily = 200}}};
    gate.shared.heard.hear(asked, {.rules = 1}, said);
    fed_claim other = gate.claim_of(0, 4);
    REQUIRE(gate.take({other}, 4));
    CHECK(gate.shared.heard.grown_since(0).budgets ==
          std::vector<offered_budget>{{.id = budget, .hourly = 4, .daily = 200, .limit_budgets = 3}});
    CHECK(gate.shared.heard.grown_since(0).rules == 1);
    other = gate.claim_of(4, 5);
    other.hourly = {{.id = budget + 1, .series = 9}};
    other.daily.clear();
    const std::uint64_t then = gate.shared.heard.grown_since(0).revision;
    REQUIRE(gate.take({other}, 5));
    CHECK(gate.shared.heard.grown_since(then).budgets == std::vector<offered_budget>{{.id = budget + 1, .hourly = 9}});
    CHECK(gate.shared.heard.fed(gate.number, budget + 1).hourly == 9);
}

TEST_CASE("a feed is fresh for a second after all was read, of the hour that was read") {
    reader gate;
    REQUIRE(gate.take({gate.claim_of(0, 2)}, 3));  // more has been taken than is said
    CHECK_FALSE(gate.is_fresh());
    CHECK(gate.metrics.feed_gaps.value() == 1);
    gate.under_test.begin(gate.number + 1);
    CHECK_FALSE(gate.is_fresh());
    gate.under_test.begin(gate.number);
    REQUIRE(gate.take({gate.claim_of(0, 2)}, 2));
    CHECK(gate.is_fresh());
    CHECK(gate.is_fresh(999ms));
    CHECK_FALSE(gate.is_fresh(1s));
    CHECK(gate.shared.counted().of);
    gate.shared.set_state(fleet_state::recovering);
    CHECK_FALSE(gate.shared.counted().of);
    gate.under_test.begin(gate.number + 1);
    CHECK_FALSE(gate.is_fresh());
}

TEST_CASE("with a full answer there is more to read") {
    reader gate;
    std::vector<fed_claim> full;
    for (std::uint64_t i = 0; i < fed_claims_max; ++i) full.push_back(gate.claim_of(i, i + 1));
    REQUIRE(gate.take(full, fed_claims_max + 1));
    CHECK_FALSE(gate.is_fresh());
    REQUIRE(gate.take({gate.claim_of(fed_claims_max, fed_claims_max + 1)}, fed_claims_max + 1));
    CHECK(gate.is_fresh());
    CHECK(gate.metrics.feed_gaps.value() == 0);
}

TEST_CASE("something that is missing is noticed, and the rest is known") {
    reader gate;
    SECTION("amid the feed") {
        REQUIRE(gate.take({gate.claim_of(0, 2), gate.claim_of(3, 5)}, 5));
    }
    SECTION("at its beginning") {
        REQUIRE(gate.take({gate.claim_of(3, 5)}, 5));
    }
    CHECK(gate.knows(4));
    CHECK_FALSE(gate.knows(2));
    CHECK(gate.metrics.feed_gaps.value() == 1);
    CHECK_FALSE(gate.is_fresh());
    REQUIRE(gate.take({gate.claim_of(5, 6)}, 6));
    CHECK(gate.metrics.feed_gaps.value() == 1);
    CHECK_FALSE(gate.is_fresh());  // what is missing stays so in this hour
    CHECK(gate.knows(5));
}

TEST_CASE("a store that has lost something is read from the beginning") {
    reader gate;
    REQUIRE(gate.take({gate.claim_of(0, 5)}, 5));
    SECTION("it says so") {
        CHECK_FALSE(gate.under_test.take({}, gate.sent, gate.limiter));
    }
    SECTION("it has fewer series than before") {
        CHECK_FALSE(gate.take({}, 4));
    }
    CHECK_FALSE(gate.is_fresh());
    REQUIRE(gate.take({gate.claim_of(0, 3)}, 3));
    CHECK(gate.is_fresh());
    CHECK(gate.metrics.feed_gaps.value() == 0);
}

TEST_CASE("a gate that has only read is offered from by its own rules") {
    reader gate;
    gate.shared.heard.count_by({.rules = 7});
    REQUIRE(gate.take({gate.claim_of(0, 2, gate.shared.gate)}, 2));  // an answer that was lost
    CHECK(gate.shared.heard.grown_since(0).rules == 7);
    CHECK(gate.shared.heard.grown_since(0).budgets ==
          std::vector<offered_budget>{{.id = budget, .hourly = 2, .daily = 102}});
}

TEST_CASE("a store that was whole again unseen is read from the beginning, whatever its numbers") {
    reader gate;
    const auto take = [&](const char* since, std::vector<fed_claim> claims, std::uint64_t series) {
        return gate.under_test.take({.is_whole = true, .since = since, .series = series, .claims = std::move(claims)},
                                    gate.sent, gate.limiter);
    };
    REQUIRE(take("1.5", {gate.claim_of(0, 5)}, 5));
    REQUIRE(take("1.5", {gate.claim_of(5, 6)}, 6));
    CHECK_FALSE(take("2.5", {}, 6));  // it has lost the last two, and has others in their place
    CHECK_FALSE(gate.is_fresh());
    fed_claim others = gate.claim_of(4, 6);
    others.fingerprints = fingerprints(14, 2);
    REQUIRE(take("2.5", {gate.claim_of(0, 4), others}, 6));
    CHECK(gate.is_fresh());
    CHECK(gate.knows(15));
}

TEST_CASE("what others have told of does not have to be told") {
    reader gate;
    const auto rules = gate.limiter.rules();
    gate.shared.untold.accept(gate.hour, rules);
    for (const std::uint64_t series : {0u, 1u, 7u}) gate.shared.untold.add(gate.hour, *rules, fingerprint_of(series));
    REQUIRE(gate.take({gate.claim_of(0, 2)}, 2));
    CHECK(gate.shared.untold.size() == 1);
    CHECK(gate.metrics.struck_series.value() == 2);
}

TEST_CASE("what the gate has taken itself is left to the answers that it hears, and counts wait for them") {
    reader gate;
    const std::uint64_t own = gate.shared.gate;
    gate.shared.untold.accept(gate.hour, gate.limiter.rules());
    gate.shared.untold.add(gate.hour, *gate.limiter.rules(), fingerprint_of(0));
    REQUIRE(gate.take({gate.claim_of(0, 2, own), gate.claim_of(2, 4)}, 4));
    CHECK(gate.is_fresh());
    CHECK_FALSE(gate.knows(0));
    CHECK(gate.knows(2));
    CHECK(gate.shared.untold.size() == 1);
    CHECK(gate.shared.heard.fed(gate.number, budget).hourly == 0);
    gate.under_test.take_late(gate.sent + 699ms, gate.limiter);  // shared.timeout, and half a second
    CHECK_FALSE(gate.knows(0));
    gate.under_test.take_late(gate.sent + 700ms, gate.limiter);
    CHECK(gate.knows(0));
    CHECK(gate.knows(1));
    CHECK(gate.shared.heard.fed(gate.number, budget).hourly == 4);
    CHECK(gate.metrics.fed_series.value() == 2);
}

TEST_CASE("an hour that the limiter has not begun yet is read when it has") {
    reader gate;
    gate.under_test.begin(gate.number + 1);
    const fed_claim next = gate.claim_of(0, 2);
    CHECK_FALSE(gate.take({next}, 2));
    CHECK_FALSE(gate.knows(0));
    gate.limiter.maintain(gate.now + 1h);
    std::vector<verdict> verdicts(1);
    const offered_series any{.fingerprint = fingerprint_of(99), .samples = 1, .admits = true};
    lookup_result open;
    gate.limiter.lookup(std::span{&any, 1}, gate.now + 1h, verdicts, open);
    REQUIRE(gate.take({next}, 2));
    CHECK(gate.knows(0));
    CHECK(gate.shared.feed.fresh_hour(gate.sent) == gate.number + 1);
}

TEST_CASE("what a real store has is read, and what is missing is downloaded once") {
    claim_store store;  // the program's own server, emptied
    const std::string run_id = [&] {
        const std::string info = store.connection().text({"INFO", "server"}), key = "run_id:";
        const std::size_t begin = info.find(key) + key.size();
        return info.substr(begin, info.find('\r', begin) - begin);
    }();
    store.connection().ask({"HSET", store.keys().head(), "server", run_id});
    const shared_config settings{.url = "unix://" + the_store().socket(),
                                 .store = {.unix_path = the_store().socket(), .timeout = 5s},
                                 .name_space = "t"};
    fleet_metrics metrics;
    fleet_shared shared{settings, metrics};
    shared.set_state(fleet_state::joined);
    series_limiter limiter{
        {.global = {.hourly = 10}}, shared.now(), hash_key::known_to_all(), limit_scope::fleet, tested_set()};
    net::io_context io;
    int downloads = 0;
    const auto download = [&](const window_span&) -> net::awaitable<bool> {
        ++downloads;
        co_return true;
    };
    feed under_test{io, shared, download};
    net::co_spawn(io, under_test.resolve_stale(limiter), net::detached);

    claim_terms terms{.hour = std::chrono::floor<std::chrono::hours>(shared.now()).time_since_epoch().count(),
                      .gate = another_gate,
                      .server = run_id};
    terms.buckets = store.decide({}, terms, shared.now()).windows.buckets;
    const auto take = [&](std::uint64_t first, std::uint32_t count) {
        const claim asked{.fingerprints = fingerprints(first, count),
                          .runs = {{.series = count, .budgets = {0}}},
                          .budgets = {{.id = budget, .maxima = {.hourly = 10}}}};
        return store.decide(asked, terms, shared.now()).series.back().outcome;
    };
    const auto runs_until = [&](const auto& holds) {
        const auto limit = std::chrono::steady_clock::now() + 20s;
        while (!holds() && std::chrono::steady_clock::now() < limit) io.run_one_for(10ms);
        return holds();
    };
    REQUIRE(take(0, 12) == claim_outcome::refused);
    REQUIRE(runs_until([&] { return limiter.knows(fingerprint_of(9)) && shared.counted().of; }));
    CHECK_FALSE(limiter.knows(fingerprint_of(10)));
    CHECK(shared.counted().of(terms.hour, budget).hourly == 10);
    CHECK(downloads == 0);

    store.connection().ask({"DEL", store.keys().feed(terms.hour)});
    store.connection().ask({"HINCRBY", store.keys().hour(terms.hour), "members", "1"});
    REQUIRE(runs_until([&] { return downloads == 1; }));
    REQUIRE(runs_until([&] { return shared.counted().of != nullptr; }));
    CHECK(metrics.feed_gaps.value() == 1);
    CHECK(downloads == 1);
}

}  // namespace
}  // namespace feed_test

}  // namespace seriesgate
