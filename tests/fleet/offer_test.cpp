// How a gate offers what it has heard, to a store that does not hear all of it.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/recovery.hpp"
#include "redis/client_scene.hpp"
#include "redis/scripted_redis.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

namespace {

redis_config config_for(const scripted_redis& server) {
    redis_config made;
    made.host = "127.0.0.1";
    made.port = server.port();
    made.timeout = 10s;
    return made;
}

using offer_outcome = std::optional<result<bool, std::string>>;

net::awaitable<void> keep(net::awaitable<result<bool, std::string>> offered, offer_outcome& got) {
    got = co_await std::move(offered);
}

}  // namespace

TEST_CASE("what was offered in part has not been offered, and is offered anew") {
    net::io_context io{1};
    scripted_redis server{io};
    client_scene with{io, config_for(server)};
    net::co_spawn(io, serve_all(server), net::detached);
    const shared_config settings{};
    fleet_metrics metrics;
    fleet_shared shared{settings, metrics};
    recovery under_test{shared, "one"};
    std::vector<fed_count> counts;
    for (std::uint64_t id = 1; id <= offered_budgets_max + 1; ++id) counts.push_back({.id = id, .series = 1});
    shared.heard.hear_counted(490'000, counts, {});
    const auto offer = [&](std::chrono::milliseconds patience) {
        offer_outcome got;
        net::co_spawn(io, keep(under_test.offer(with.client, {}, {}, patience), got), net::detached);
        with.run_until([&] { return got.has_value(); });
        return *got;
    };

    const std::string whole = "*4\r\n:1\r\n:0\r\n:1\r\n" + bulk("this recovery");
    server.script = {whole};
    CHECK(offer(2s).error() == "no answer in time");
    CHECK(server.commands.size() == 2);
    CHECK_FALSE(under_test.has_offered_in("this recovery"));

    under_test.begin();
    server.script = {whole + whole, whole};  // the first is the late answer
    const auto all = offer(10s);
    REQUIRE(all.has_value());
    CHECK(*all);
    CHECK(server.commands.size() == 4);
    CHECK(under_test.has_offered_in("this recovery"));
    CHECK_FALSE(under_test.has_offered_in("another one"));

    SECTION("nor has what came since, where that did not arrive") {
        shared.heard.hear_counted(490'000, std::vector<fed_count>{{.id = 1, .series = 2}}, {});
        CHECK_FALSE(offer(2s).has_value());
        CHECK(server.commands.size() == 5);
        CHECK_FALSE(under_test.has_offered_in("this recovery"));
    }
}
