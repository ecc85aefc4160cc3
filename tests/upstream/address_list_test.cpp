#include "upstream/address_list.hpp"

#include <boost/asio/error.hpp>

#include "support/catch.hpp"

namespace seriesgate::testing::address_list_test {
namespace {

stream_endpoint at(std::uint16_t port) {
    return tcp_endpoint(net::ip::address_v4::loopback(), port);
}

/// A resolver that answers when it is told to, and a clock that stands still.
struct scene {
    address_list::clock::time_point now = address_list::clock::now();
    std::vector<name_resolver::answer> asked;
    address_list addresses{[this](name_resolver::answer take) { asked.push_back(std::move(take)); },
                           [this] { return now; }};

    void refresh_after(std::chrono::milliseconds passed) {
        now += passed;
        addresses.refresh();
    }
};

TEST_CASE("an address needs no resolver") {
    address_list addresses{address_list::endpoints{at(1)}};
    CHECK(addresses.looked_up());
    CHECK(addresses.known() == address_list::endpoints{at(1)});
    addresses.refresh();
}

TEST_CASE("a name is looked up at the first refresh, and nobody asks twice at once") {
    scene with;
    CHECK(with.asked.empty());
    with.refresh_after(0s);
    with.refresh_after(1h);
    CHECK(with.asked.size() == 1);
    CHECK_FALSE(with.addresses.looked_up());
    CHECK_FALSE(with.addresses.has_any());
    CHECK(with.addresses.known().empty());
    with.asked.back()({}, {at(1), at(2)});
    CHECK(with.addresses.looked_up());
    CHECK(with.addresses.has_any());
    CHECK(with.addresses.known() == address_list::endpoints{at(1), at(2)});
}

TEST_CASE("a name is looked up again 30 seconds after an answer, a second after a failure") {
    scene with;
    with.refresh_after(0s);
    with.asked.back()({}, {at(1)});
    with.refresh_after(29'999ms);
    CHECK(with.asked.size() == 1);
    with.refresh_after(1ms);
    REQUIRE(with.asked.size() == 2);
    with.asked.back()(net::error::host_not_found, {});
    with.refresh_after(999ms);
    CHECK(with.asked.size() == 2);
    with.refresh_after(1ms);
    REQUIRE(with.asked.size() == 3);
    with.asked.back()({}, {at(3)});
    CHECK(with.addresses.known() == address_list::endpoints{at(3)});
}

TEST_CASE("the time counts from the answer, not from the question") {
    scene with;
    with.refresh_after(0s);
    with.now += 1h;  // the resolver hung
    with.asked.back()({}, {at(1)});
    with.refresh_after(29s);
    CHECK(with.asked.size() == 1);
}

TEST_CASE("after a failure a name is left alone for as long as it took, up to 30 seconds") {
    scene with;
    const auto [took, pause] = GENERATE(
        table<std::chrono::seconds, std::chrono::seconds>({{0s, 1s}, {1s, 1s}, {10s, 10s}, {30s, 30s}, {40s, 30s}}));
    with.refresh_after(0s);
    with.now += took;
    with.asked.back()(net::error::host_not_found_try_again, {});
    with.refresh_after(pause - 1ms);
    CHECK(with.asked.size() == 1);
    with.refresh_after(1ms);
    CHECK(with.asked.size() == 2);
}

TEST_CASE("a failure is an outcome, and what was known before stays") {
    scene with;
    with.refresh_after(0s);
    SECTION("the first") {
        with.asked.back()(net::error::host_not_found, {});
        CHECK(with.addresses.looked_up());
        CHECK_FALSE(with.addresses.has_any());
        CHECK(with.addresses.known().empty());
        CHECK((with.addresses.failure() == net::error::host_not_found));
        with.refresh_after(1s);
        with.asked.back()({}, {at(1)});
        CHECK(with.addresses.has_any());
        CHECK_FALSE(with.addresses.failure());
    }
    SECTION("a later one") {
        with.asked.back()({}, {at(1)});
        with.refresh_after(30s);
        with.asked.back()(net::error::host_not_found_try_again, {});
        CHECK(with.addresses.has_any());
        CHECK(with.addresses.known() == address_list::endpoints{at(1)});
    }
}

constexpr address_order::clock::time_point start{1h};

address_order::endpoints list(std::initializer_list<std::uint16_t> ports) {
    address_order::endpoints made;
    for (const auto port : ports) made.push_back(at(port));
    return made;
}

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

}  // namespace
}  // namespace seriesgate::testing::address_list_test
