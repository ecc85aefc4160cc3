#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 inlines our operator delete into coroutines, and not the operator new that it belongs to.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
#include "support/allocations.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <list>
#include <optional>
#include <tuple>

#include "net/async.hpp"
#include "net/event_loop.hpp"
#include "net/fair_queue.hpp"
#include "net/openssl.hpp"
#include "net/timed_stream.hpp"
#include "net/tls_files.hpp"
#include "net/tls_pair.hpp"
#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/loopback.hpp"

namespace seriesgate::testing::allocation_test {
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

/// Two streams with TLS, and what has become of their operations.
struct watched_streams : tls_streams {
    std::shared_ptr<int> pending = std::make_shared<int>();  // has an owner more for each operation that is not over
    int completed = 0;
    error_code last{};

    /// For any operation.
    auto note() {
        return [this, is_pending = pending](error_code error, auto...) {
            ++completed;
            last = error;
        };
    }
    /// Whatever can be done now.
    void poll() {
        for (int i = 0; i < 20; ++i) {
            io.restart();
            io.poll();
        }
    }
    void shake_hands() {
        client.async_handshake(note());
        server.async_handshake(note());
        require_end();
        REQUIRE(completed == 2);
        completed = 0;
    }
    void run_to_end() {
        io.restart();
        while (pending.use_count() != 1 && io.run_one_for(10s) != 0) continue;
    }
    /// No operation stays for ever.
    void require_end() {
        run_to_end();
        REQUIRE(pending.use_count() == 1);
    }
};

/// Lets the first allocation of what is done fail, then the second, …, until there are no more.
/// @return how many there were
template <class Act>
int for_each_allocation(bool is_shaken, Act act) {
    for (int after = 0; after < 1000; ++after) {
        CAPTURE(after);
        watched_streams at;
        if (is_shaken) at.shake_hands();
        bool was_last = false;
        {
            const failing_allocation memory{static_cast<std::uint64_t>(after)};
            try {
                act(at);
            } catch (const std::bad_alloc&) {  // an operation did not begin, or its end could not be told
            }
            was_last = !memory.has_failed();
            at.client.close();
            at.run_to_end();
        }
        at.require_end();  // an assertion allocates
        if (was_last) return after;
    }
    return 1000;
}

/// Owns the stream that it waits for, as sessions do.
net::awaitable<void> read_on(std::unique_ptr<timed_stream> own, std::shared_ptr<int>) {
    std::array<char, 1024> room;
    for (error_code error; !error;)
        std::tie(error, std::ignore) = co_await own->async_read_some(net::buffer(room), no_throw);
}
net::awaitable<void> write_on(std::unique_ptr<timed_stream> own, std::shared_ptr<int>) {
    const std::string much(16 * 1024, 'x');
    for (error_code error; !error;)
        std::tie(error, std::ignore) = co_await own->async_write_some(net::buffer(much), no_throw);
}

TEST_CASE("an operation for which memory runs out is over, whenever it does") {
    std::array<char, 16> room{};
    int allocations = 0;
    SECTION("reads that wait, and writes") {
        allocations = for_each_allocation(true, [&](watched_streams& at) {
            at.server.async_read_some(net::buffer(room), at.note());
            at.poll();
            at.client.async_write_some(net::buffer("said", 4), at.note());
            at.poll();
        });
        CHECK(allocations >= 5);  // two handlers, two operations of Asio's, a buffer
    }
    SECTION("handshakes") {
        allocations = for_each_allocation(false, [&](watched_streams& at) {
            at.server.async_handshake(at.note());
            at.client.async_handshake(at.note());
            at.poll();
        });
        CHECK(allocations >= 6);
    }
    CHECK(allocations < 100);
}

TEST_CASE("a limit for which there was no memory is none, and the next one is") {
    net::io_context io{1};
    auto pair = connect_loopback(io);
    timed_stream near{std::move(pair.near)};
    {
        const failing_allocation memory{0};
        CHECK_THROWS_AS(near.expires_after(1ms), std::bad_alloc);
    }
    near.expires_after(20ms);
    std::array<char, 16> room{};
    error_code came;
    near.async_read_some(net::buffer(room), [&](error_code error, std::size_t) { came = error; });
    io.run_for(10s);
    CHECK(came == boost::beast::error::timeout);
}

TEST_CASE("who has begun an operation is told that memory has run out within it") {
    watched_streams at;
    at.shake_hands();
    std::array<char, 16> room{};
    {
        const failing_allocation memory{1};  // the first is the handler's
        at.server.async_read_some(net::buffer(room), at.note());
        CHECK(memory.has_failed());
    }
    CHECK(at.completed == 0);  // not before the beginning has returned
    at.poll();
    CHECK(at.completed == 1);
    CHECK(at.last == net::error::no_memory);
}

TEST_CASE("who waits for a TLS peer goes with the io_context that it waits in") {
    auto alive = std::make_shared<int>();
    const std::weak_ptr<int> waiting = alive;
    {
        watched_streams at;
        at.shake_hands();
        auto own = std::make_unique<timed_stream>(std::move(at.server));
        SECTION("to say something") {
            net::co_spawn(at.io, read_on(std::move(own), std::move(alive)), net::detached);
        }
        SECTION("to take what is sent") {
            net::co_spawn(at.io, write_on(std::move(own), std::move(alive)), net::detached);
        }
        at.poll();
        CHECK_FALSE(waiting.expired());
    }
    CHECK(waiting.expired());
}

TEST_CASE("a certificate for which memory ran out is taken when there is some") {
    const captured_log unread;
    const scratch_directory folder;
    const certificate known[]{server_certificate("first.test"), server_certificate("second.test")};
    const auto write = [&](const certificate& one) {
        write_file(folder / "tls.crt", one.chain);
        write_file(folder / "tls.key", one.key);
    };
    write(known[0]);
    const auto files =
        tls_files::load({.role = tls_role::server}, {.certificates = folder / "tls.crt", .key = folder / "tls.key"});
    REQUIRE(files.has_value());
    auto look = [&, now = monotonic_clock::time_point{}]() mutable {
        for (int times = 0; times < 3; ++times) (*files)->refresh({.now = now += std::chrono::seconds{1}});
    };
    bool has_failed = true;
    int after = 0;
    for (; has_failed; ++after) {
        CAPTURE(after);
        const std::string before = (*files)->current()->subject;
        write(known[before == "CN=first.test"]);
        try {
            const failing_allocation memory{static_cast<std::uint64_t>(after)};
            look();
            has_failed = memory.has_failed();
        } catch (const std::bad_alloc&) {
        }
        look();
        CHECK((*files)->current()->subject != before);
    }
    CHECK(after > 10);
}

TEST_CASE("a notification for which there is no memory is made up for within a second") {
    net::io_context io{1};
    const auto event = std::make_shared<async_event>(io.get_executor());
    bool over = false;
    net::co_spawn(io, event->wait(), [&over](const std::exception_ptr& failure) { over = !failure; });
    io.poll();
    failing_allocations = 1;
    event->notify();
    CHECK(failing_allocations == 0);
    io.run_for(5s);
    CHECK(over);
}

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

TEST_CASE("what has to last is begun again once there is memory") {
    const captured_log unread;
    // Only its first life lacks memory.
    const auto lasts = [](auto begin_to_lack, auto end) {
        net::io_context io{1};
        async_timer limit{io, monotonic_clock::now() + 10s};
        limit.async_wait([&](error_code) { io.stop(); });
        int begun = 0, made_rounds = 0;
        const auto last = [&]() -> net::awaitable<void> {
            if (++begun == 1) begin_to_lack();
            while (++made_rounds < 5) co_await sleep_for(1ms);
            io.stop();
        };
        spawn_lasting(io, "a thing failed", last);
        run_handlers(io);
        end();
        CHECK(made_rounds >= 5);
    };
    bool has_failed = true;
    for (std::uint64_t after = 0; has_failed; ++after) {
        CAPTURE(after);
        std::optional<failing_allocation> memory;
        const auto end = [&] {
            has_failed = memory->has_failed();
            memory.reset();
        };
        lasts([&] { memory.emplace(after); }, end);
    }
    for (std::uint64_t lacking = 1; lacking < 20; ++lacking) {
        CAPTURE(lacking);
        lasts([&] { failing_allocations = lacking; }, [] { failing_allocations = 0; });
    }
}

TEST_CASE("a lookup has one answer, whichever allocation for it fails") {
    bool has_failed = true;
    int after = 0;
    for (; has_failed; ++after) {
        CAPTURE(after);
        net::io_context io{1};
        name_resolver resolver{io};
        int answers = 0;
        error_code last;
        resolver.look_up("localhost", 9201, [&](error_code error, const std::vector<stream_endpoint>&) {
            ++answers;
            last = error;
        });
        has_failed = fails_once(static_cast<std::uint64_t>(after), [&io] { io.run_for(10s); });
        io.restart();
        io.run_for(10s);
        CHECK(answers == 1);
        CHECK((last == net::error::no_memory) == has_failed);
    }
    CHECK(after > 1);
}

TEST_CASE("a lookup for which there is no memory to begin it has no answer") {
    net::io_context io{1};
    name_resolver resolver{io};
    int answers = 0;
    const auto look_up = [&] { resolver.look_up("localhost", 9201, [&](auto...) { ++answers; }); };
    for (std::uint64_t after = 0; fails_once(after, look_up); ++after) CHECK(answers == 0);
    io.run_for(10s);
    CHECK(answers == 1);
}

net::awaitable<void> hold(fair_queue& of, std::string key, std::list<fair_queue::turn>& held) {
    auto mine = co_await of.take(key, fair_queue::clock::now() + 10s);
    if (mine) held.push_back(std::move(mine));
}

TEST_CASE("a turn is not lost with who had no memory to wait for it") {
    bool has_failed = true;
    for (std::uint64_t after = 0; has_failed; ++after) {
        CAPTURE(after);
        net::io_context io{1};
        fair_queue turns{io, 1, 10};
        std::list<fair_queue::turn> held, later;
        const auto go_on = [&io] {
            io.restart();
            io.poll();
        };
        net::co_spawn(io, hold(turns, "a", held), net::detached);
        go_on();
        REQUIRE(held.size() == 1);
        {
            const failing_allocation memory{after};
            try {
                net::co_spawn(io, hold(turns, "b", later), net::detached);
                go_on();
            } catch (const std::bad_alloc&) {
            }
            has_failed = memory.has_failed();
        }
        go_on();  // the unwinding
        held.clear();
        go_on();
        later.clear();  // b's turn, if it was there for it
        net::co_spawn(io, hold(turns, "c", held), net::detached);
        go_on();
        CHECK(held.size() == 1);
        CHECK(turns.waiting() == 0);
        held.clear();
    }
}

TEST_CASE("a turn passes on without memory") {
    net::io_context io{1};
    fair_queue turns{io, 1, 10};
    std::list<fair_queue::turn> held;
    for (int i = 0; i < 3; ++i) net::co_spawn(io, hold(turns, "2001:db8:1234:5678::1", held), net::detached);
    io.poll();
    REQUIRE(turns.waiting() == 2);
    {
        const failing_allocation memory{0};
        held.clear();
    }
    io.restart();
    io.poll();
    CHECK(held.size() == 1);
    held.clear();
}

}  // namespace
}  // namespace seriesgate::testing::allocation_test
