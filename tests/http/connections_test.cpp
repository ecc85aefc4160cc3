#include "http/connections.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <thread>

#include "support/catch.hpp"

namespace seriesgate::testing::connections_test {
namespace {

const auto start = std::chrono::steady_clock::time_point{} + 1h;
const auto peer_a = net::ip::make_address("192.0.2.1");
const auto peer_b = net::ip::make_address("2001:db8::1");

/// A socket that can tell whether it has been shut down.
class open_socket {
    std::array<int, 2> ends_{};

  public:
    open_socket() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) == 0); }
    open_socket(const open_socket&) = delete;
    open_socket& operator=(const open_socket&) = delete;
    ~open_socket() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    [[nodiscard]] int descriptor() const { return ends_[0]; }
    [[nodiscard]] bool is_shut_down() const {
        char byte = 0;
        return ::recv(ends_[1], &byte, 1, MSG_DONTWAIT) == 0;
    }
};

/// Connections that a test has taken in, with their sockets.
struct taken {
    open_socket socket;
    connection_lease lease;
};

struct scene {
    http_metrics metrics;
    connection_registry registry;
    std::deque<taken> all;

    explicit scene(connection_bounds bounds) : registry(bounds, metrics) {}

    /// @param peer nobody's yet: a proxy's, or a unix socket's.
    taken& admit(std::chrono::steady_clock::time_point now = start,
                 const std::optional<net::ip::address>& peer = peer_a,
                 connection_stage first = connection_stage::waiting) {
        taken& made = all.emplace_back();
        made.lease = registry.admit(made.socket.descriptor(), peer, now, first);
        return made;
    }
    taken& admit_nobodys(connection_stage first = connection_stage::waiting) {
        return admit(start, std::nullopt, first);
    }
    taken& shake(const net::ip::address& peer, std::chrono::steady_clock::time_point now = start) {
        return admit(now, peer, connection_stage::tls_handshake);
    }
    std::uint64_t given_up(connection_bound reason = connection_bound::total) {
        return metrics.connections_given_up[reason].value();
    }
    std::uint64_t turned_away(connection_bound reason = connection_bound::total) {
        return metrics.connections_turned_away[reason].value();
    }
};

constexpr descriptor_use others_with(std::size_t workers) {
    return {.workers = workers, .idle_upstream_max = 256};
}

TEST_CASE("up to the bound nobody is given up, and what is closed makes room") {
    scene at{{.total = 3}};
    for (int i = 0; i < 3; ++i) CHECK(at.admit().lease);
    CHECK(at.metrics.connections.value() == 3);
    at.all.clear();
    CHECK(at.metrics.connections.value() == 0);
    for (int i = 0; i < 3; ++i) CHECK_FALSE(at.admit().lease.exceeded_bound());
    CHECK(at.given_up() + at.turned_away() == 0);
}

TEST_CASE("the one that has waited longest makes room, not the oldest") {
    scene at{{.total = 3}};
    taken& busy = at.admit();
    taken& again = at.admit();
    taken& idle = at.admit();
    REQUIRE(busy.lease.enter(connection_stage::receiving, start));
    REQUIRE(busy.lease.enter(connection_stage::working, start));
    REQUIRE(again.lease.enter(connection_stage::working, start));
    REQUIRE(again.lease.enter(connection_stage::waiting, start));

    CHECK_FALSE(at.admit().lease.exceeded_bound());
    CHECK(idle.socket.is_shut_down());
    CHECK_FALSE(again.socket.is_shut_down());
    CHECK_FALSE(idle.lease.enter(connection_stage::receiving, start));  // nothing is worked on after that
    CHECK_FALSE(at.admit().lease.exceeded_bound());
    CHECK(again.socket.is_shut_down());
    CHECK_FALSE(busy.socket.is_shut_down());
    CHECK(at.given_up() == 2);
}

TEST_CASE("a request that is slow to come makes room, one that has just begun or is worked on does not") {
    scene at{{.total = 1}};
    taken& first = at.admit();
    SECTION("receiving") {
        REQUIRE(first.lease.enter(connection_stage::receiving, start));
        CHECK(at.admit(start + connection_registry::slow_after - 1ns).lease.exceeded_bound() ==
              connection_bound::total);
        CHECK_FALSE(at.admit(start + connection_registry::slow_after).lease.exceeded_bound());
        CHECK(first.socket.is_shut_down());
    }
    SECTION("working") {
        REQUIRE(first.lease.enter(connection_stage::working, start));
        CHECK(at.admit(start + 1h).lease.exceeded_bound() == connection_bound::total);
        CHECK_FALSE(first.socket.is_shut_down());
    }
}

TEST_CASE("at its own bound a peer makes room itself") {
    scene at{{.total = 100, .per_peer = 2}};
    taken& other = at.admit(start, peer_b);
    taken& one = at.admit();
    taken& two = at.admit();
    CHECK_FALSE(at.admit().lease.exceeded_bound());
    CHECK(one.socket.is_shut_down());
    REQUIRE(two.lease.enter(connection_stage::working, start));
    REQUIRE(at.all.back().lease.enter(connection_stage::working, start));
    CHECK(at.admit().lease.exceeded_bound() == connection_bound::per_peer);
    CHECK_FALSE(other.socket.is_shut_down());
    CHECK(at.given_up(connection_bound::per_peer) == 1);

    scene alone{{.total = 10, .per_peer = 1}};
    for (int i = 0; i < 5; ++i) CHECK_FALSE(alone.admit().lease.exceeded_bound());
    CHECK(alone.given_up(connection_bound::per_peer) == 4);
}

TEST_CASE("guests are few, and the one that says nothing makes room for the next") {
    scene at{{.total = 1}};
    REQUIRE(at.admit().lease.enter(connection_stage::working, start));
    std::vector<taken*> guests;
    for (std::size_t i = 0; i < connection_registry::overflow_max; ++i) guests.push_back(&at.admit());
    CHECK(guests.back()->lease.exceeded_bound() == connection_bound::total);
    CHECK(at.admit().lease.exceeded_bound() == connection_bound::total);
    CHECK(guests[0]->socket.is_shut_down());
    CHECK(at.turned_away() == 1);
    at.all.pop_back();

    for (std::size_t i = 1; i < guests.size(); ++i) REQUIRE(guests[i]->lease.enter(connection_stage::working, start));
    REQUIRE(at.admit().lease.enter(connection_stage::working, start));
    CHECK_FALSE(at.admit().lease);
    CHECK(at.turned_away() == 2);
    CHECK(at.given_up() == 0);
}

TEST_CASE("a guest that has had its answer is not turned away once more when it makes room") {
    scene at{{.total = 1}};
    REQUIRE(at.admit().lease.enter(connection_stage::working, start));
    std::vector<taken*> guests;
    for (std::size_t i = 0; i < connection_registry::overflow_max; ++i) guests.push_back(&at.admit());
    for (taken* each : guests) REQUIRE(each->lease.enter(connection_stage::receiving, start));
    SECTION("answered") {
        for (taken* each : guests) REQUIRE(each->lease.enter(connection_stage::waiting, start));  // it lingers
        CHECK(at.admit().lease);
        CHECK(at.turned_away() == 0);
    }
    SECTION("not answered yet") {
        CHECK(at.admit(start + connection_registry::slow_after).lease);
        CHECK(at.turned_away() == 1);
    }
    CHECK(guests[0]->socket.is_shut_down());
    CHECK(at.given_up() == 0);
}

TEST_CASE("sockets are never more than said, though those given up stay open") {
    constexpr std::size_t total = 16;
    scene at{{.total = total}};
    for (int i = 0; i < 500; ++i) at.admit(start + std::chrono::seconds{i});
    const auto open = static_cast<std::size_t>(at.metrics.connections.value());
    CHECK(open == connection_registry::open_max(total));
    CHECK(at.given_up() == connection_registry::given_up_max(total));
    CHECK(at.turned_away() == 500 - open + connection_registry::overflow_evicted_max);
    at.all.clear();
    CHECK_FALSE(at.admit().lease.exceeded_bound());
}

TEST_CASE("a proxy's connection counts as its sender's, from its header on") {
    scene at{{.total = 100, .per_peer = 2}};
    for (int i = 0; i < 5; ++i) CHECK_FALSE(at.admit_nobodys().lease.exceeded_bound());
    taken& own = at.admit();
    taken& first = at.all[0];
    CHECK_FALSE(first.lease.sender());
    CHECK(first.lease.set_sender(peer_a, start));
    CHECK(first.lease.sender() == peer_a);
    CHECK(at.all[1].lease.set_sender(peer_b, start));
    CHECK(at.given_up(connection_bound::per_peer) == 0);

    CHECK(at.all[2].lease.set_sender(peer_a, start));  // the third of that peer: its longest waiting one goes
    CHECK(own.socket.is_shut_down());
    for (const std::size_t which : {0, 2}) REQUIRE(at.all[which].lease.enter(connection_stage::working, start));
    CHECK(at.all[3].lease.set_sender(peer_a, start));
    CHECK(at.all[3].lease.exceeded_bound() == connection_bound::per_peer);
    CHECK(at.given_up(connection_bound::per_peer) == 1);
    CHECK_FALSE(at.all[1].socket.is_shut_down());
    at.all.clear();
    CHECK(at.metrics.connections.value() == 0);
    CHECK(at.registry.open_count() == 0);

    scene alone{{.total = 10, .per_peer = 1}};
    alone.admit();
    alone.admit(start, peer_b).lease = {};
    taken& proxied = alone.admit_nobodys();
    CHECK(proxied.lease.set_sender(peer_a, start));  // the only one of its peer makes room
    CHECK_FALSE(proxied.lease.exceeded_bound());
    CHECK(alone.all[0].socket.is_shut_down());
}

TEST_CASE("a proxy's connection is no overflow of its own, and one that was closed gets no sender") {
    scene at{{.total = 2, .per_peer = 1, .handshakes = 16}};
    taken& one = at.admit_nobodys();
    at.admit_nobodys();
    at.admit_nobodys();
    CHECK(one.socket.is_shut_down());
    CHECK_FALSE(one.lease.set_sender(peer_a, start));
    for (int i = 1; i < 3; ++i)
        REQUIRE(at.all[static_cast<std::size_t>(i)].lease.enter(connection_stage::working, start));
    taken& over = at.admit_nobodys(connection_stage::tls_handshake);
    CHECK(over.lease.exceeded_bound() == connection_bound::total);
    CHECK(over.lease.set_sender(peer_a, start));
    CHECK(over.lease.exceeded_bound() == connection_bound::total);

    scene shaking{{.total = 100, .handshakes = 16}};
    for (int i = 0; i < 4; ++i)
        CHECK(shaking.admit_nobodys(connection_stage::tls_handshake).lease.set_sender(peer_a, start));
    CHECK(shaking.all[0].socket.is_shut_down());  // more than handshakes_of_peer_max()
    CHECK(shaking.given_up(connection_bound::handshakes) == 1);
}

TEST_CASE("when descriptors run out those that have waited longest go, and the bound is lowered") {
    scene at{{.total = 100, .per_peer = 50}};
    taken& one = at.admit();
    taken& two = at.admit();
    taken& three = at.admit();
    taken& four = at.admit();
    REQUIRE(one.lease.enter(connection_stage::working, start));
    at.registry.lower(100, start);
    CHECK(two.socket.is_shut_down());
    CHECK_FALSE(three.socket.is_shut_down());
    at.registry.lower(1, start);
    CHECK(three.socket.is_shut_down());
    CHECK(four.socket.is_shut_down());
    at.registry.lower(50, start + 1h);
    CHECK_FALSE(one.socket.is_shut_down());
    CHECK(at.registry.total() == 1);
    CHECK(at.given_up(connection_bound::descriptors) == 3);
}

TEST_CASE("connections of many threads are counted right") {
    scene at{{.total = 50, .per_peer = 20}};
    std::vector<std::thread> threads;
    for (unsigned id = 0; id < 4; ++id) {
        threads.emplace_back([&at, id] {
            const auto peer = net::ip::make_address_v4(id % 3 + 1);
            std::deque<connection_lease> mine;
            for (unsigned i = 0; i < 5'000; ++i) {
                mine.push_back(at.registry.admit(-1, peer));
                if (!mine.back())
                    mine.pop_back();
                else if (i % 3 != 0 && mine.back().enter(connection_stage::receiving) && i % 3 == 2)
                    static_cast<void>(mine.back().enter(connection_stage::working));
                if (mine.size() > i % 40) mine.pop_front();
            }
        });
    }
    for (std::thread& each : threads) each.join();
    CHECK(at.metrics.connections.value() == 0);
    for (int i = 0; i < 20; ++i) CHECK_FALSE(at.admit().lease.exceeded_bound());
}

TEST_CASE("who has no address is bounded with all others only") {
    scene at{{.total = 3, .per_peer = 1}};
    for (int i = 0; i < 3; ++i) CHECK_FALSE(at.admit_nobodys().lease.exceeded_bound());
    CHECK(at.given_up(connection_bound::per_peer) == 0);
    REQUIRE(at.all[1].lease.enter(connection_stage::working, start));
    CHECK_FALSE(at.admit(start, peer_b).lease.exceeded_bound());
    CHECK(at.all[0].socket.is_shut_down());
    at.all.clear();
    CHECK(at.metrics.connections.value() == 0);
}

net::ip::address peer_number(unsigned number) {
    return net::ip::make_address_v4(0x0a000000 + number);
}

TEST_CASE("in a takeover slow handshakes are given up, and nobody else") {
    scene at{{.total = 100, .handshakes = 16}};
    const taken& slow = at.shake(peer_a);
    const taken& waiting = at.admit();
    const taken& later = at.shake(peer_a, start + 1ns);
    at.registry.give_up_slow_handshakes(start + connection_registry::slow_after - 1ns);
    CHECK_FALSE(slow.socket.is_shut_down());
    at.registry.give_up_slow_handshakes(start + connection_registry::slow_after);
    CHECK(slow.socket.is_shut_down());
    CHECK_FALSE(waiting.socket.is_shut_down());
    CHECK_FALSE(later.socket.is_shut_down());
}

TEST_CASE("at the bound of handshakes the oldest makes room, and no other connection") {
    scene at{{.total = 100, .handshakes = 3}};
    taken& idle = at.admit();
    std::vector<taken*> made;
    for (unsigned i = 0; i < 3; ++i) made.push_back(&at.shake(peer_number(i)));
    CHECK(made[0]->lease.enter(connection_stage::waiting, start));  // its handshake is over
    CHECK(at.shake(peer_number(3)).lease);
    CHECK(at.given_up(connection_bound::handshakes) == 0);
    CHECK(at.shake(peer_number(4)).lease);
    CHECK(made[1]->socket.is_shut_down());
    CHECK_FALSE(made[1]->lease.enter(connection_stage::waiting, start));
    CHECK_FALSE(made[0]->socket.is_shut_down());
    CHECK_FALSE(made[2]->socket.is_shut_down());
    CHECK_FALSE(idle.socket.is_shut_down());
    CHECK(at.given_up(connection_bound::handshakes) == 1);
}

TEST_CASE("who begins many handshakes gives up its own") {
    scene at{{.total = 100, .handshakes = 16}};
    REQUIRE(connection_registry::handshakes_of_peer_max(16) == 3);
    taken& others = at.shake(peer_b);
    taken& first = at.shake(peer_a);
    for (int i = 0; i < 2; ++i) CHECK(at.shake(peer_a).lease);
    CHECK_FALSE(first.socket.is_shut_down());
    for (int i = 0; i < 10; ++i) CHECK(at.shake(peer_a).lease);
    CHECK(first.socket.is_shut_down());
    CHECK_FALSE(others.socket.is_shut_down());
    CHECK(at.given_up(connection_bound::handshakes) == 10);
    at.all.clear();
    CHECK(at.metrics.connections.value() == 0);
}

TEST_CASE("handshakes that are given up and stay open are bounded, and counted") {
    scene at{{.total = 8, .handshakes = 2}};
    std::size_t admitted = 0;
    for (unsigned i = 0; i < 40; ++i) admitted += at.shake(peer_number(i)).lease ? 1u : 0u;
    CHECK(admitted == 2 + connection_registry::given_up_max(8));
    CHECK(at.given_up(connection_bound::handshakes) == connection_registry::given_up_max(8));
    CHECK(at.turned_away(connection_bound::handshakes) == 40 - admitted);
}

TEST_CASE("a handshake that takes long makes room before who only waits") {
    scene at{{.total = 2}};
    taken& idle = at.admit();
    taken& tls_handshake = at.shake(peer_b);
    SECTION("long") {
        CHECK_FALSE(at.admit(start + connection_registry::slow_after).lease.exceeded_bound());
        CHECK(tls_handshake.socket.is_shut_down());
        CHECK_FALSE(idle.socket.is_shut_down());
    }
    SECTION("not long") {
        CHECK_FALSE(at.admit(start + connection_registry::slow_after - 1ns).lease.exceeded_bound());
        CHECK_FALSE(tls_handshake.socket.is_shut_down());
        CHECK(idle.socket.is_shut_down());
    }
}

TEST_CASE("a connection is unasked until its first request, and busy until the answer to each has been written") {
    scene at{{.total = 3}};
    const auto counts = [&at] {
        const auto found = at.registry.count_unfinished();
        return std::pair{found.busy, found.unasked};
    };
    using pair = std::pair<std::size_t, std::size_t>;
    CHECK(counts() == pair{0, 0});
    taken& one = at.admit();
    at.admit();
    CHECK(counts() == pair{0, 2});
    REQUIRE(one.lease.enter(connection_stage::waiting));
    CHECK(counts() == pair{0, 2});
    REQUIRE(one.lease.enter(connection_stage::receiving));
    CHECK(counts() == pair{1, 1});
    REQUIRE(one.lease.enter(connection_stage::working));
    CHECK(counts() == pair{1, 1});
    REQUIRE(one.lease.enter(connection_stage::waiting));
    CHECK(counts() == pair{0, 1});
    REQUIRE(one.lease.enter(connection_stage::receiving));
    CHECK(counts() == pair{1, 1});
    at.all.clear();
    CHECK(counts() == pair{0, 0});
}

TEST_CASE("one that is given up or turned away is neither") {
    scene at{{.total = 1}};
    at.admit();
    at.admit();  // gives the first one up
    CHECK(at.registry.count_unfinished().unasked == 1);
    REQUIRE(at.all.back().lease.enter(connection_stage::receiving));
    REQUIRE(at.all.back().lease.enter(connection_stage::working));
    at.admit();  // a guest
    CHECK(at.registry.count_unfinished().unasked == 1);
    CHECK(at.registry.count_unfinished().busy == 1);
    at.all.clear();
    CHECK(at.registry.count_unfinished().unasked == 0);
    CHECK(at.registry.count_unfinished().busy == 0);
}

TEST_CASE("connections are no more than there are descriptors for") {
    CHECK(connections_that_fit(0, others_with(4)) == 8);
    CHECK(connections_that_fit(48, others_with(1)) == 8);
    CHECK(connections_that_fit(1'048'576, others_with(16)) > 8192);
    std::size_t before = 0;
    for (std::uint64_t descriptors = 256; descriptors < 2'000'000; descriptors *= 2) {
        const std::size_t fit = connections_that_fit(descriptors, others_with(4));
        CHECK(fit > before);
        CHECK(2 * fit < descriptors);
        before = fit;
    }
    CHECK(connections_that_fit(4096, others_with(64)) < connections_that_fit(4096, others_with(4)));
}

TEST_CASE("what fits leaves a descriptor for every connection to the upstream and for those that nobody uses") {
    constexpr std::uint64_t descriptors = 10'000;
    const std::size_t none_idle = connections_that_fit(descriptors, {.workers = 4, .idle_upstream_max = 0});
    const std::size_t some_idle = connections_that_fit(descriptors, {.workers = 4, .idle_upstream_max = 100});
    CHECK(connection_registry::open_max(none_idle) + none_idle < descriptors);
    CHECK(connection_registry::open_max(some_idle) + some_idle + 400 < descriptors);
    CHECK(some_idle < none_idle);
    // One more would not fit.
    CHECK(connection_registry::open_max(some_idle + 1) + some_idle + 1 + 400 + 64 + 16 * 6 > descriptors);
}

TEST_CASE("connections to the upstream take no more than their own bound, and all of that with replicas") {
    constexpr std::uint64_t descriptors = 10'000;
    const auto fit = [](std::size_t upstream_max, bool has_replicas) {
        return connections_that_fit(
            descriptors,
            {.workers = 4, .idle_upstream_max = 100, .upstream_max = upstream_max, .has_replicas = has_replicas});
    };
    const std::size_t unbounded = connections_that_fit(descriptors, {.workers = 4, .idle_upstream_max = 100});
    CHECK(fit(1000, false) > unbounded);
    CHECK(fit(1000, false) == fit(1000, true));
    CHECK(fit(9'000, false) == unbounded);
    CHECK(fit(9'000, true) < unbounded);
}

TEST_CASE("a listener for people takes its share") {
    constexpr std::uint64_t descriptors = 10'000;
    const std::size_t without = connections_that_fit(descriptors, others_with(4));
    const std::size_t with =
        connections_that_fit(descriptors, {.workers = 4, .idle_upstream_max = 256, .admin_connections = 64});
    const std::size_t given =
        connection_registry::open_max(without) + without - connection_registry::open_max(with) - with;
    CHECK(given + 3 >= connection_registry::open_max(64));  // a sender's connection takes more than two
    CHECK(given <= connection_registry::open_max(64) + 3);
}

TEST_CASE("the soft limit of descriptors is raised to the hard one") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit low = before;
    low.rlim_cur = 200;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    CHECK(descriptor_limit() == 200);
    CHECK(raise_descriptor_limit() == before.rlim_max);
    CHECK(descriptor_limit() == before.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace seriesgate::testing::connections_test
