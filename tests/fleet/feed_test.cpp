// A gate that follows the feed of a real store.
#include "fleet/feed.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "fleet/counting_gate.hpp"
#include "fleet/joined_gate.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::feed_test {
namespace {

constexpr std::int64_t hour = 1'139'580;  // 2100-01-01, noon
const time_point now{std::chrono::hours{hour} + 10min};
constexpr std::uint64_t budget = 5;

std::string run_id() {
    store_connection connection{the_store()};
    const std::string info = connection.text({"INFO", "server"}), key = "run_id:";
    const std::size_t begin = info.find(key) + key.size();
    return info.substr(begin, info.find('\r', begin) - begin);
}

struct following_gate : joined_gate {
    feed under_test{io, shared, limiter};

    following_gate(const std::string& epoch, const open_windows& open)
        : joined_gate{{.global = {.hourly = 10}}, now, open, epoch} {
        net::co_spawn(io, under_test.run(), net::detached);
    }
    [[nodiscard]] bool is_fresh() const { return shared.view.is_fresh(monotonic_clock::now()); }
    [[nodiscard]] bool has(std::uint64_t series) const { return limiter.hour_has(fingerprint_of(series)); }
    [[nodiscard]] std::uint64_t downloads() const { return metrics.downloads[download_result::complete].value(); }
};

TEST_CASE("what a real store has is downloaded, what others take is fed, and what is missing is downloaded again") {
    counting_gate others{{.gate = "other", .run = 1, .hour = hour, .limits = {1}}, run_id()};
    REQUIRE(others.take(0, 12, budget, 10) == 10);
    following_gate gate{others.epoch(), others.windows()};
    CHECK(gate.shared.is_catching_up());
    REQUIRE(gate.runs_until([&] { return gate.is_fresh(); }));
    CHECK(gate.has(9));
    CHECK_FALSE(gate.has(10));
    CHECK_FALSE(gate.shared.is_catching_up());
    CHECK(gate.downloads() == 1);

    REQUIRE(others.take(20, 300, budget, 1'000) == 300);
    REQUIRE(gate.runs_until([&] { return gate.metrics.fed_series.value() == 300; }));
    CHECK(gate.has(319));
    CHECK(gate.shared.view.counts_of(budget)->hourly == 310);
    CHECK(gate.downloads() == 1);
    CHECK(gate.metrics.feed_gaps.value() == 0);

    const store_keys& keys = others.store().keys();
    others.connection().ask({"DEL", keys.feed()});
    others.connection().ask({"HINCRBY", keys.head(), "fed", "1"});
    REQUIRE(gate.runs_until([&] { return gate.downloads() == 2; }));
    REQUIRE(gate.runs_until([&] { return gate.is_fresh(); }));
    CHECK(gate.metrics.feed_gaps.value() == 1);

    others.connection().ask({"HSET", keys.head(), "epoch", "another"});
    REQUIRE(gate.runs_until([&] { return !gate.is_fresh(); }));
    gate.shared.view.begin("another", others.windows());
    REQUIRE(gate.runs_until([&] { return gate.is_fresh(); }));
    CHECK(gate.downloads() == 3);

    gate.shared.view.set_state(store_reach::away);
    REQUIRE(gate.runs_until([&] { return !gate.is_fresh(); }));
}

}  // namespace
}  // namespace seriesgate::testing::feed_test
