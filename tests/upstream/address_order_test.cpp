#include "upstream/address_order.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace address_order_test {
namespace {

constexpr address_order::clock::time_point start{1h};

stream_endpoint at(std::uint16_t port) {
    return tcp_endpoint(net::ip::address_v4::loopback(), port);
}

address_order::endpoints list(std::initializer_list<std::uint16_t> ports) {
    address_order::endpoints made;
    for (const auto port : ports) made.push_back(at(port));
    return made;
}

}  // namespace

TEST_CASE("connections begin with each address in turn") {
    address_order order;
    const auto known = list({1, 2, 3});
    CHECK(order.of(known, 0, start) == list({1, 2, 3}));
    CHECK(order.of(known, 1, start) == list({2, 3, 1}));
    CHECK(order.of(known, 5, start) == list({3, 1, 2}));
    CHECK(order.of({}, 5, start).empty());
}

TEST_CASE("an address that has failed comes last for a while, or until it has been connected to") {
    address_order order;
    const auto known = list({1, 2, 3});
    order.failed(at(1), start);
    CHECK(order.of(known, 0, start) == list({2, 3, 1}));
    CHECK(order.of(known, 2, start + 29s) == list({3, 2, 1}));
    SECTION("a while") {
        CHECK(order.of(known, 0, start + 30s) == list({1, 2, 3}));
    }
    SECTION("connected to") {
        order.connected(at(1));
        CHECK(order.of(known, 0, start) == list({1, 2, 3}));
    }
    SECTION("if all have failed, they go on in turn") {
        order.failed(at(2), start);
        order.failed(at(3), start);
        CHECK(order.of(known, 1, start) == list({2, 3, 1}));
    }
    SECTION("a name that loses the address forgets it") {
        CHECK(order.of(list({2, 3}), 0, start) == list({2, 3}));
        CHECK(order.of(known, 0, start) == list({1, 2, 3}));
    }
}

}  // namespace address_order_test
