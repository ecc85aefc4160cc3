#include "ingest/requests.hpp"
#include "simulation/simulation.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;
using reaction = store_reaction::kind;

namespace {

const std::string limited = "maxHourlySeries: 100\n";

}  // namespace

TEST_CASE("a store that is away is 502, and back it takes what comes") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate(limited);
    store.go_away();
    const http_answer refused = world.post(write_request(body_v1({"a"})));
    CHECK(refused.status == 502);
    CHECK(refused.body.find("connecting to 10.0.0.9:8428: Connection refused") != std::string::npos);
    store.come_back();
    world.time.run_for(5s);
    CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
    CHECK(store.received.size() == 1);
}

TEST_CASE("a store that takes no connection is 504 or 502 within upstream.timeout") {
    simulation world;
    world.network.black_holes.insert("10.0.0.9:8428");
    world.start_gate(limited);
    const auto began = world.time.elapsed();
    const http_answer got = world.post(write_request(body_v1({"a"})));
    CHECK((got.status == 502 || got.status == 504));
    CHECK(world.time.elapsed() - began <= 26s);
}

TEST_CASE("a store that never answers is 504 after upstream.timeout") {
    simulation world;
    scripted_store store{world.peers};
    store.usual.does = reaction::is_silent;
    world.start_gate(limited);
    const auto began = world.time.elapsed();
    const http_answer got = world.post(write_request(body_v1({"a"})));
    CHECK(got.status == 504);
    CHECK(world.time.elapsed() - began >= 25s);
    CHECK(world.time.elapsed() - began < 26s);
}

TEST_CASE("a store that closes without an answer is 502, and is not asked twice") {
    simulation world;
    scripted_store store{world.peers};
    const auto how = GENERATE(reaction::closes, reaction::resets, reaction::closes_midway);
    store.next.push_back({.status = 200, .body = "half of this", .does = how});
    world.start_gate(limited);
    CHECK(world.post(write_request(body_v1({"a"}))).status == 502);
    CHECK(store.received.size() == 1);
    CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
}

TEST_CASE("errors of a store go back as they are, with Retry-After, and nothing is lost of a retry") {
    simulation world;
    scripted_store store{world.peers};
    const unsigned status = GENERATE(400u, 409u, 429u, 500u, 503u);
    store.next.push_back({.status = status, .headers = {{"Retry-After", "7"}}, .body = "why"});
    world.start_gate(limited);
    http_sender sender = world.sender();
    const http_answer got = world.run(sender.send(write_request(body_v1({"a"}))));
    CHECK(got.status == status);
    CHECK(got.header("Retry-After") == "7");
    CHECK(got.body == "why");
    CHECK(world.run(sender.send(write_request(body_v1({"a"})))).status == 204);
    CHECK(store.received.size() == 2);
}

TEST_CASE("what says no HTTP is 502") {
    simulation world;
    scripted_store store{world.peers};
    const std::string said =
        GENERATE(std::string{"SSH-2.0-x\r\n"}, std::string{"HTTP/1.1 204\r\nContent-Length: x\r\n\r\n"},
                 std::string{"HTTP/1.1 100 Continue\r\n\r\n"});
    store.next.push_back({.body = said, .does = reaction::says_raw});
    world.start_gate(limited);
    CHECK(world.post(write_request(body_v1({"a"}))).status == 502);
}

TEST_CASE("a name that does not resolve keeps the gate from being ready, and says why") {
    simulation world;
    scripted_store store{world.peers};
    world.network.names["store"] = {.error = net::error::host_not_found};
    CHECK_THROWS_AS(world.start_gate("upstream: {url: 'http://store:8428/api/v1/write'}\n"), std::runtime_error);
    CHECK(world.ask("/-/ready").body.find("the upstream's name does not resolve") != std::string::npos);
    world.network.names["store"] = {.addresses = {"10.0.0.9"}};
    CHECK(world.time.run_until([&] { return world.gate().is_ready(); }, 60s));
    CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
}

TEST_CASE("a name with a dead address is tried at the next one") {
    simulation world;
    scripted_store store{world.peers};
    world.network.names["store"] = {.addresses = {"10.0.0.8", "10.0.0.9"}};
    world.start_gate("upstream: {url: 'http://store:8428/api/v1/write'}\n");
    for (int i = 0; i < 4; ++i) CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
    CHECK(store.received.size() == 4);
}

TEST_CASE("equal endpoints: what one refuses to take a connection for goes to another at once") {
    simulation world;
    scripted_store first{world.peers, "10.0.0.1:80"};
    scripted_store second{world.peers, "10.0.0.2:80"};
    world.start_gate("upstream: {urls: ['http://10.0.0.1/w', 'http://10.0.0.2/w']}\n");
    first.go_away();
    for (int i = 0; i < 10; ++i) CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
    CHECK(second.received.size() == 10);
    CHECK(world.logged("an address of the store is out") == 1);
    first.come_back();
    world.time.run_for(60s);
    for (int i = 0; i < 40; ++i) {  // its part grows slowly
        CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
        world.time.run_for(1s);
    }
    CHECK(first.received.size() >= 10);
}

TEST_CASE("a replica that is slow or away keeps nobody waiting when it is best effort") {
    simulation world;
    scripted_store store{world.peers};
    scripted_store replica{world.peers, "10.0.0.7:80"};
    replica.usual.does = reaction::is_silent;
    world.start_gate(
        "upstream: {url: 'http://10.0.0.9:8428/api/v1/write', replicateTo: [{url: 'http://10.0.0.7/w', bestEffort: "
        "true}]}\n");
    const auto began = world.time.elapsed();
    CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
    CHECK(world.time.elapsed() - began < 100ms);
    CHECK(world.time.run_until([&] { return replica.received.size() == 1; }, 1s));
}
