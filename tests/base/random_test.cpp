#include "base/random.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("random bytes fill all that is asked for, and numbers differ") {
    std::array<std::byte, 4096> bytes{};
    fill_random(bytes);
    std::set<std::byte> kinds{bytes.begin() + 2048, bytes.end()};
    CHECK(kinds.size() > 200);
    CHECK(random_number() != random_number());
}

TEST_CASE("a test may be the source") {
    install_random_source([](std::span<std::byte> into) {
        for (std::byte& each : into) each = std::byte{1};
    });
    CHECK(random_number() == 0x0101010101010101);
    install_random_source({});
    CHECK(random_number() != 0x0101010101010101);
}
