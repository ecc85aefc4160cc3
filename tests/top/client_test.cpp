// One question to a gate. With real gates: e2e/test_top.py.
#include "top/client.hpp"

#include <boost/asio/io_context.hpp>
#include <stdexcept>

#include "net/async.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::client_test {
namespace {

net::awaitable<void> answered(bool& is_answered) {
    co_await sleep_for({});
    is_answered = true;
}

net::awaitable<void> out_of_memory() {
    co_await sleep_for({});
    throw std::runtime_error{"no memory"};
}

TEST_CASE("a question that ends by an exception is no answer") {
    net::io_context io{1};
    CHECK_THROWS_WITH(top::run_to_end(io, out_of_memory()), "no memory");
}

TEST_CASE("a question that is answered waits for no time limit") {
    net::io_context io{1};
    async_timer left_over{io, std::chrono::hours{1}};
    left_over.async_wait([](error_code) {});
    bool is_answered = false;
    top::run_to_end(io, answered(is_answered));
    CHECK(is_answered);
}

}  // namespace
}  // namespace seriesgate::testing::client_test
