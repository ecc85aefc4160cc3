#include "net/event_loop.hpp"

#include <boost/asio/post.hpp>
#include <stdexcept>

#include "support/captured_log.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using seriesgate::testing::captured_log;

namespace background_test {
namespace {

net::awaitable<void> fail(bool with_words) {
    if (with_words) throw std::runtime_error("out of everything");
    throw 42;
    co_return;
}

net::awaitable<void> count(int& calls, bool first_fails) {
    if (++calls == 1 && first_fails) throw std::runtime_error("once");
    co_return;
}

}  // namespace

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
    spawn_lasting(
        io.get_executor(), [&calls] { return count(calls, true); }, "a thing failed");
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

}  // namespace background_test
