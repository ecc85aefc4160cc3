#include "admin/page_queue.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "support/catch.hpp"
#include "support/running_loop.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

namespace desk_test {
namespace {

using numbers = single_flight_queue<int, int>;

net::awaitable<void> ask(numbers& asked, int key, net::io_context& io, std::chrono::milliseconds limit,
                         std::size_t ahead_max, std::vector<std::optional<int>>& got) {
    const auto outcome = co_await asked.ask(key, io, limit, ahead_max);
    got.push_back(outcome);
}

void spawn_ask(numbers& asked, int key, net::io_context& io, std::chrono::milliseconds limit, std::size_t ahead_max,
               std::vector<std::optional<int>>& got) {
    net::co_spawn(io, ask(asked, key, io, limit, ahead_max, got), net::detached);
}

net::awaitable<void> take_into(numbers& asked, std::optional<numbers::job>& taken) {
    auto job = co_await asked.take();
    taken.emplace(std::move(job));
}

/// @return nothing if nothing is asked for.
std::optional<numbers::job> take(numbers& asked) {
    std::optional<numbers::job> taken;
    net::io_context io{1};
    net::co_spawn(io, take_into(asked, taken), net::detached);
    io.poll();
    return taken;
}

}  // namespace

TEST_CASE("all who ask for the same before it is begun get what comes of it, once") {
    numbers asked;
    net::io_context io{1};
    std::vector<std::optional<int>> got;
    for (const int key : {1, 2, 1, 1}) spawn_ask(asked, key, io, 10s, 15, got);
    io.poll();
    int made = 0;
    const auto make = [&made](const numbers::job& job) { return job.key * 100 + ++made; };
    const running_loop working{[&] { return serve_desk(asked, make); }};
    io.restart();
    io.run();
    CHECK(got == std::vector<std::optional<int>>{101, 101, 101, 202});
}

TEST_CASE("who waits too long gets nothing, and what comes late hurts nobody") {
    numbers asked;
    std::vector<std::optional<int>> got;
    {
        net::io_context io{1};
        spawn_ask(asked, 1, io, 1ms, 15, got);
        io.run();
        CHECK(got == std::vector<std::optional<int>>{std::nullopt});
        spawn_ask(asked, 1, io, 10s, 15, got);
        io.restart();
        io.poll();
    }  // with someone who still waits
    const auto job = take(asked);
    REQUIRE(job);
    job->give(7);
    CHECK(got.size() == 1);
}

TEST_CASE("only so many different things are asked for at a time") {
    numbers asked;
    net::io_context io{1};
    std::vector<std::optional<int>> got;
    for (int key = 0; key < 5; ++key) spawn_ask(asked, key, io, 10s, 2, got);
    spawn_ask(asked, 2, io, 10s, 2, got);  // is asked for already
    spawn_ask(asked, 9, io, 10s, 3, got);
    io.poll();
    CHECK(got.size() == 2);  // the fourth and the fifth
    for (int key = 10; key < 100; ++key) asked.ask(key);
    for (std::size_t orders = 0; orders < numbers::jobs_max; ++orders) CHECK(take(asked));
    CHECK_FALSE(take(asked));
}

}  // namespace desk_test
