#include "net/fair_queue.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <list>

#include "support/catch.hpp"

namespace seriesgate {
namespace {

/// Who asks for turns, and in which order they get them.
struct queue_of_askers {
    net::io_context io;
    fair_queue under_test;
    std::vector<std::string> served;
    std::vector<std::string> turned_away;
    std::list<fair_queue::turn> held;

    queue_of_askers(std::size_t at_once, std::size_t waiting_max) : under_test{io, at_once, waiting_max} {}
    ~queue_of_askers() {
        while (!held.empty()) release();
    }

    void ask(const std::string& tenant, std::chrono::milliseconds limit = 10s) {
        net::co_spawn(io, wait(tenant, fair_queue::clock::now() + limit), net::detached);
        run();
    }
    void release() {
        held.erase(held.begin());
        run();
    }
    void run() {
        io.restart();
        io.poll();
    }

    net::awaitable<void> wait(std::string tenant, fair_queue::clock::time_point limit) {
        auto mine = co_await under_test.take(tenant, limit);
        if (!mine) {
            turned_away.push_back(tenant);
            co_return;
        }
        served.push_back(tenant);
        held.push_back(std::move(mine));
    }
};

using names = std::vector<std::string>;

TEST_CASE("as many ask at once as may, the next one when one is done") {
    queue_of_askers queue{2, 10};
    for (const char* tenant : {"a", "a", "a"}) queue.ask(tenant);
    CHECK(queue.served == names{"a", "a"});
    CHECK(queue.under_test.waiting() == 1);
    queue.release();
    CHECK(queue.served == names{"a", "a", "a"});
    CHECK(queue.under_test.waiting() == 0);
}

TEST_CASE("tenants take turns, however many requests one of them has") {
    queue_of_askers queue{1, 10};
    for (const char* tenant : {"b", "b", "b", "b", "a", "c"}) queue.ask(tenant);
    for (int i = 0; i < 5; ++i) queue.release();
    CHECK(queue.served == names{"b", "a", "b", "c", "b", "b"});
}

TEST_CASE("who comes when too many wait is turned away at once") {
    queue_of_askers queue{1, 2};
    for (const char* tenant : {"a", "b", "c", "d"}) queue.ask(tenant);
    CHECK(queue.turned_away == names{"d"});
    queue.release();
    queue.ask("e");
    CHECK(queue.turned_away == names{"d"});
}

TEST_CASE("who has waited for too long leaves, and the turn goes to the next") {
    queue_of_askers queue{1, 10};
    queue.ask("a");
    queue.ask("b", -1ms);
    queue.ask("c");
    CHECK(queue.turned_away == names{"b"});
    CHECK(queue.under_test.waiting() == 1);
    queue.release();
    CHECK(queue.served == names{"a", "c"});
    queue.release();
    queue.ask("d");
    CHECK(queue.served == names{"a", "c", "d"});
}

TEST_CASE("a turn that is given back when there are no turns any more goes to nobody") {
    net::io_context io;
    std::optional<fair_queue> gone{std::in_place, io, 1u, 10u};
    std::vector<fair_queue::turn> held;
    const auto ask = [](fair_queue& of, std::vector<fair_queue::turn>& into) -> net::awaitable<void> {
        auto mine = co_await of.take("a", fair_queue::clock::now() + 10s);
        into.push_back(std::move(mine));
    };
    net::co_spawn(io, ask(*gone, held), net::detached);
    io.poll();
    REQUIRE(held.size() == 1);
    CHECK(held.front());
    gone.reset();
    held.clear();
}

}  // namespace
}  // namespace seriesgate
