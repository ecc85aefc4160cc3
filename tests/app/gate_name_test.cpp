#include "app/gate_name.hpp"

#include <unistd.h>

#include <array>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("a gate is called by its host and where it listens") {
    std::array<char, 256> host{};
    REQUIRE(gethostname(host.data(), host.size() - 1) == 0);
    const std::string name{host.data()};
    CHECK(gate_name({.port = 9201}) == name + ":9201");
    CHECK(gate_name({.port = 0}) == name + ":pid-" + std::to_string(getpid()));
    CHECK(gate_name({.unix_path = "/run/gate\x1b\xff"}) == name + ":/run/gate\\x1b\\xff");
}
