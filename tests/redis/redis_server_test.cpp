// The client with a real server.
#include <csignal>
#include <string>

#include "redis/client_scene.hpp"
#include "redis/server_process.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

TEST_CASE("commands of any bytes are answered over TCP and over a unix socket") {
    const server_process server;
    const bool over_tcp = GENERATE(true, false);
    net::io_context io{1};
    client_scene with{io, over_tcp ? server.at_port() : server.at_socket()};
    const std::string value{"a\0\r\n\xff$3", 8};
    CHECK(shown(with.call({"SET", "key", value})) == "OK");
    CHECK(shown(with.call({"GET", "key"})) == value);
    CHECK(shown(with.call({"GET", "absent"})) == "nil");
    CHECK(shown(with.call({"STRLEN", "key"})) == "8");
    CHECK(shown(with.call({"INCR", "key"})) == "other: ERR value is not an integer or out of range");
    CHECK(with.client.connection_epoch() == 1);
    CHECK(with.client.run_id().size() == 40);
    CHECK(with.shared.metrics.connections.value() == 1);
}
