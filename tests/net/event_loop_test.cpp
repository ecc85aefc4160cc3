#include "net/event_loop.hpp"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <stdexcept>
#include <thread>

#include "net/async.hpp"
#include "support/captured_log.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::event_loop_test {
namespace {

net::awaitable<void> count_events(std::shared_ptr<async_event> event, std::atomic<int>& woken) {
    for (;;) {
        co_await event->wait();
        ++woken;
    }
}

bool comes_to(const std::atomic<int>& count, int wanted) {
    const auto end = monotonic_clock::now() + 30s;
    while (count < wanted && monotonic_clock::now() < end) std::this_thread::yield();
    return count >= wanted;
}

net::awaitable<void> fail(bool with_words) {
    if (with_words) throw std::runtime_error("out of everything");
    throw 42;
    co_return;
}

net::awaitable<void> count(int& calls, bool first_fails) {
    if (++calls == 1 && first_fails) throw std::runtime_error("once");
    co_return;
}

TEST_CASE("an event that comes before the wait, or amid it, ends the wait") {
    std::atomic<int> woken = 0;
    event_loop loop;
    const auto event = std::make_shared<async_event>(loop.context().get_executor());
    event->notify();
    spawn(loop.context().get_executor(), count_events(event, woken), "counting failed");
    loop.start(start_thread, "test");
    for (int i = 1; i < 1000; ++i) {
        REQUIRE(comes_to(woken, i));
        event->notify();
    }
    REQUIRE(comes_to(woken, 1000));
    loop.stop();
}

TEST_CASE("a wait ends at its limit") {
    net::io_context io{1};
    const auto event = std::make_shared<async_event>(io.get_executor());
    bool over = false;
    net::co_spawn(io, event->wait_until(monotonic_clock::now() + 2ms),
                  [&over](const std::exception_ptr& failure) { over = !failure; });
    io.poll();
    CHECK_FALSE(over);
    io.run();
    CHECK(over);
}

TEST_CASE("work is done on the loop's thread, and waited for without holding up another") {
    std::thread::id where;
    event_loop loop;
    loop.start(start_thread, "test");
    net::io_context here{1};
    const auto work = [&where] { where = std::this_thread::get_id(); };
    net::co_spawn(here, loop.perform(work, here), net::detached);
    here.run();
    CHECK(where != std::thread::id{});
    CHECK(where != std::this_thread::get_id());
}

TEST_CASE("work that throws is over, too") {
    const captured_log said;
    event_loop loop;
    loop.start(start_thread, "test");
    net::io_context here{1};
    const auto work = [] { throw std::runtime_error("no memory"); };
    net::co_spawn(here, loop.perform(work, here), net::detached);
    here.run_for(10s);
    CHECK(here.stopped());
    loop.stop();
    CHECK(said.text() == "level=error msg=\"a handler failed\" err=\"no memory\"\n");
}

TEST_CASE("a loop that is told to end says so to what works on it") {
    event_loop loop;
    const std::stop_token ending = loop.ending();
    CHECK_FALSE(ending.stop_requested());
    loop.begin_to_end();
    CHECK(ending.stop_requested());
}

TEST_CASE("an exception in a coroutine that nobody waits for is logged and ends nothing else") {
    const captured_log log;
    net::io_context io{1};
    int others = 0;
    spawn(io.get_executor(), fail(true), "a thing failed");
    spawn(io.get_executor(), fail(false), "another thing failed");
    spawn(io.get_executor(), count(others, false), "a third thing failed");
    run_handlers(io);
    CHECK(others == 1);
    CHECK(log.text() ==
          "level=error msg=\"a thing failed\" err=\"out of everything\"\nlevel=error msg=\"another thing failed\"\n");
}

TEST_CASE("what has to last is begun again a second after an exception, and ends when it returns") {
    const captured_log log;
    net::io_context io{1};
    int calls = 0;
    const auto began = std::chrono::steady_clock::now();
    spawn_lasting(io, "a thing failed", [&calls] { return count(calls, true); });
    run_handlers(io);
    CHECK(std::chrono::steady_clock::now() - began >= std::chrono::seconds{1});
    CHECK(calls == 2);
    CHECK(log.text() == "level=error msg=\"a thing failed\" err=once\n");
}

TEST_CASE("a handler that throws does not end its thread") {
    const captured_log log;
    net::io_context io{1};
    int others = 0;
    net::post(io, [] { throw std::runtime_error("out of everything"); });
    net::post(io, [] { throw 42; });
    net::post(io, [&others] { ++others; });
    run_handlers(io);
    CHECK(others == 1);
    CHECK(log.text() ==
          "level=error msg=\"a handler failed\" err=\"out of everything\"\nlevel=error msg=\"a handler failed\"\n");
}

}  // namespace
}  // namespace seriesgate::testing::event_loop_test
