#include "ingest/requests.hpp"
#include "simulation/simulation.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

namespace {

/// Runs until the sender's connection has ended. @return how long that took.
virtual_time::duration lifetime(simulation& world, http_sender& sender) {
    const auto began = world.time.elapsed();
    world.run(sender.read_end(), 1h);
    return world.time.elapsed() - began;
}

}  // namespace

TEST_CASE("a connection on which nothing is asked is closed after server.idleTimeout") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("server: {threads: 1, idleTimeout: 90s}\n");
    http_sender sender = world.sender();
    REQUIRE_FALSE(world.run(sender.connect()));
    const auto took = lifetime(world, sender);
    CHECK(took >= 89s);
    CHECK(took <= 91s);
}

TEST_CASE("a header that does not end is answered within server.headerTimeout") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("server: {threads: 1, headerTimeout: 7s}\n");
    http_sender sender = world.sender();
    REQUIRE_FALSE(world.run(sender.write("POST /api/v1/write HTTP/1.1\r\nHost: x\r\n")));
    const auto began = world.time.elapsed();
    const http_answer got = world.run(sender.read_answer());
    CHECK(got.status == 503);
    CHECK(got.body.find("server.headerTimeout (7s)") != std::string::npos);
    CHECK(world.time.elapsed() - began >= 6s);
    CHECK(world.time.elapsed() - began <= 8s);
}

TEST_CASE("a body that drips does not outlast server.readTimeout") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("server: {threads: 1, readTimeout: 20s}\n");
    http_sender sender = world.sender();
    http_message large = write_request(body_v1({"a"}));
    large.headers.emplace_back("Content-Length", "100000");
    std::optional<error_code> written;
    world.start(sender.write(large.text() + std::string(90000, 'x'), 10, 1s), written);
    const auto began = world.time.elapsed();
    world.time.run_until([&] { return written.has_value() || world.time.elapsed() - began > 40s; }, 60s);
    CHECK(world.time.elapsed() - began <= 30s);
    CHECK(store.received.empty());
    CHECK(world.ask("/metrics").body.find("seriesgate_requests_rejected_total{reason=\"timeout\"} 1") !=
          std::string::npos);
}

TEST_CASE("an answer that nobody reads does not hold its connection for good") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("server: {threads: 1, writeTimeout: 15s}\n");
    http_sender sender = world.sender();
    REQUIRE_FALSE(world.run(sender.connect()));
    sender.end()->window = 100;
    REQUIRE_FALSE(world.run(sender.write(get("/metrics").text())));
    world.time.run_for(40s);
    CHECK(world.ask("/metrics").body.find("seriesgate_connections 1\n") != std::string::npos);
}

TEST_CASE("draining ends idle connections and finishes what is being worked on") {
    simulation world;
    scripted_store store{world.peers};
    store.usual.delay = 2000ms;
    world.start_gate("maxHourlySeries: 10\n");
    http_sender idle = world.sender();
    REQUIRE_FALSE(world.run(idle.connect()));
    http_sender busy = world.sender();
    std::optional<http_answer> got;
    world.start(busy.send(write_request(body_v1({"a"}))), got);
    world.time.run_for(100ms);
    CHECK(world.stop_gate());
    REQUIRE(world.time.run_until([&] { return got.has_value(); }, 1s));
    CHECK(got->status == 204);
    CHECK(world.logged("draining") == 1);
}

TEST_CASE("draining does not outlast server.drainTimeout, whatever the store does") {
    simulation world;
    scripted_store store{world.peers};
    store.usual.does = store_reaction::kind::is_silent;
    world.start_gate("server: {threads: 1, drainTimeout: 5s}\n");
    http_sender busy = world.sender();
    std::optional<http_answer> got;
    world.start(busy.send(write_request(body_v1({"a"}))), got);
    world.time.run_for(100ms);
    const auto began = world.time.elapsed();
    CHECK(world.stop_gate());
    CHECK(world.time.elapsed() - began < 6s);
    CHECK(world.logged("requests not finished, their senders will try again") == 1);
}
