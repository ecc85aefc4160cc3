#include "ingest/requests.hpp"
#include "simulation/simulation.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

TEST_CASE("what is accepted whole arrives byte for byte, and the store's answer goes back") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 100");
    store.next.push_back({.status = 200, .headers = {{"X-Of-Store", "yes"}}, .body = "thanks"});
    const http_message sent = write_request(body_v1({"a", "b"}), {{"X-Scope-OrgID", "team"}, {"X-Own", "1"}});
    const http_answer got = world.post(sent);
    CHECK(got.status == 200);
    CHECK(got.body == "thanks");
    CHECK(got.header("X-Of-Store") == "yes");
    REQUIRE(store.received.size() == 1);
    CHECK(store.received[0].body == sent.body);
    CHECK(store.received[0].target == "/api/v1/write");
    CHECK(store.received[0].header("X-Scope-OrgID") == "team");
    CHECK(store.received[0].header("X-Own") == "1");
    CHECK(store.received[0].header("Via").starts_with("1.1 seriesgate-"));
    CHECK(world.stop_gate());
}

TEST_CASE("of a request that is refused in part, the rest arrives as it was") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 2");
    const http_answer got = world.post(write_request(body_v1({"a", "b", "c"})));
    CHECK(got.status == 204);
    CHECK(got.header("X-Seriesgate-Refused-Series") == "1");
    REQUIRE(store.received.size() == 1);
    CHECK(decompressed(compression::snappy, store.received[0].body) == body_v1({"a", "b"}));
}

TEST_CASE("nothing goes to the store of a request that is refused whole") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 1");
    CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
    CHECK(world.post(write_request(body_v1({"b"}))).status == 204);
    CHECK(store.received.size() == 1);
}

TEST_CASE("one connection serves many requests, and its store's connection is used again") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 100");
    http_sender sender = world.sender();
    for (int i = 0; i < 20; ++i) CHECK(world.run(sender.send(write_request(body_v1({"a"})))).status == 204);
    CHECK(store.accepted == 1);
    CHECK(store.received.size() == 20);
}

TEST_CASE("remote write 2 goes through with its headers") {
    simulation world;
    scripted_store store{world.peers};
    store.usual = {.status = 204,
                   .headers = {{"X-Prometheus-Remote-Write-Samples-Written", "2"},
                               {"X-Prometheus-Remote-Write-Histograms-Written", "0"},
                               {"X-Prometheus-Remote-Write-Exemplars-Written", "0"}}};
    world.start_gate("maxHourlySeries: 100");
    const http_message sent = write_request_v2(body_v2({"a", "b"}));
    const http_answer got = world.post(sent);
    CHECK(got.status == 204);
    CHECK(got.header("X-Prometheus-Remote-Write-Samples-Written") == "2");
    REQUIRE(store.received.size() == 1);
    CHECK(store.received[0].body == sent.body);
}

TEST_CASE("a request that comes a byte at a time is served when it has come") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 100");
    http_sender sender = world.sender();
    const http_message sent = write_request(body_v1({"a"}));
    CHECK_FALSE(world.run(sender.write(sent.text(), 1, 10ms)));
    CHECK(world.run(sender.read_answer()).status == 204);
    CHECK(store.received.at(0).body == sent.body);
}

TEST_CASE("requests that come together are answered in their order") {
    simulation world;
    scripted_store store{world.peers};
    store.decides = [](const http_message& of) {
        return store_reaction{.status = 200, .body = std::string{of.header("X-Number")}, .delay = 20ms};
    };
    world.start_gate("maxHourlySeries: 100");
    http_sender sender = world.sender();
    std::string all;
    for (int i = 0; i < 5; ++i) all += write_request(body_v1({"a"}), {{"X-Number", std::to_string(i)}}).text();
    CHECK_FALSE(world.run(sender.write(all)));
    for (int i = 0; i < 5; ++i) CHECK(world.run(sender.read_answer()).body == std::to_string(i));
}
