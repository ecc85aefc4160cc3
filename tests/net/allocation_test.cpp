#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 inlines our operator delete into coroutines, and not the operator new that it belongs to.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
#include "support/allocations.hpp"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdint>

#include "net/timed_stream.hpp"
#include "support/catch.hpp"
#include "support/loopback.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

namespace {

constexpr int rounds = 100;

/// Writes a byte to the peer and reads it, each with a limit of its own, as sessions do.
net::awaitable<void> talk(timed_stream& near, timed_stream& far) {
    std::array<char, 1> byte{};
    for (int i = 0; i < rounds; ++i) {
        near.expires_after(10s);
        far.expires_after(10s);
        co_await near.async_write_some(net::buffer(byte), no_throw);
        co_await far.async_read_some(net::buffer(byte), no_throw);
    }
}

net::awaitable<void> count(timed_stream& near, timed_stream& far, std::uint64_t& counted) {
    co_await talk(near, far);  // Asio keeps the memory of what it has done once
    const auto before = allocated_by_this_thread.count;
    co_await talk(near, far);
    counted = allocated_by_this_thread.count - before;
}

}  // namespace

TEST_CASE("a plain stream allocates nothing to read, to write or to get another limit") {
    net::io_context io{1};
    auto pair = connect_loopback(io);
    timed_stream near{std::move(pair.near)};
    timed_stream far{std::move(pair.far)};
    std::uint64_t counted = rounds;
    net::co_spawn(io, count(near, far, counted), net::detached);
    while (counted == rounds && io.run_one_for(10s) != 0) continue;
    CHECK(counted <= 1);  // the coroutine's own frame
}
