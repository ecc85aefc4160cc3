// What no scene in Python says of names that do not resolve, or have a dead address.
#include <cstdlib>

#include "ingest/requests.hpp"
#include "simulation/simulation.hpp"
#include "support/catch.hpp"
#include "support/service_manager.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a name with a dead address is tried at the next one") {
    simulation world;
    scripted_store store{world.peers};
    world.network.names["store"] = {.addresses = {"10.0.0.8", "10.0.0.9"}};
    world.start_gate("upstream: {url: 'http://store:8428/api/v1/write'}\n");
    for (int i = 0; i < 4; ++i) CHECK(world.post(write_request(body_v1({"a"}))).status == 204);
    CHECK(store.received.size() == 4);
}

TEST_CASE("a name that does not resolve keeps no service manager waiting for ever") {
    const service_manager manager{true};
    ::setenv("NOTIFY_SOCKET", manager.address().c_str(), 1);
    simulation world;
    const std::string yaml = "listen: 127.0.0.1:9201\nserver: {threads: 1}\nupstream: {url: 'http://nowhere.test/w'}\n";
    const auto read = [&yaml] { return load_config_text(yaml, "gate.yaml", {}); };
    world.start_gate(std::make_unique<load_outcome>(read()), {}, read);
    ::unsetenv("NOTIFY_SOCKET");
    world.time.run_for(29s);
    CHECK(manager.heard().starts_with("STATUS=starting: the upstream's name does not resolve: nowhere.test"));
    CHECK(manager.heard() == "nothing");
    world.time.run_for(2s);
    CHECK(manager.heard() == "READY=1");
    CHECK(manager.heard() == "nothing");
    CHECK(world.ask("/-/ready").status == 503);
    CHECK(world.post({.target = "/-/reload"}).status == 200);
    CHECK(manager.heard().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    CHECK(manager.heard() == "READY=1");
}
