#include "ingest/requests.hpp"
#include "simulation/simulation.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("what is accepted whole arrives byte for byte, and the store's answer goes back") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 100");
    store.next.push_back({.status = 200, .headers = {{"X-Of-Store", "yes"}}, .body = "thanks"});
    const http_message sent = write_request(body_v1({"a", "b"}));
    const http_answer got = world.post(sent);
    CHECK(got.status == 200);
    CHECK(got.body == "thanks");
    CHECK(got.header("X-Of-Store") == "yes");
    REQUIRE(store.received.size() == 1);
    CHECK(store.received[0].body == sent.body);
    CHECK(world.stop_gate());
}
