#include "upstream/circuit_breaker.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing::backend_health_test {
namespace {

constexpr circuit_breaker::clock::time_point start{1h};

/// Out at `start`, and accepting connections again a second later.
void come_to_trial(circuit_breaker& backend) {
    REQUIRE(backend.failed(start, start));
    REQUIRE(backend.take_probe(start + 1s, start + 6s));
    backend.accepts(start + 1s);
    REQUIRE(backend.state() == backend_state::half_open);
}

TEST_CASE("a backend is well until it fails, and that is told of once") {
    circuit_breaker backend;
    CHECK(backend.is_up());
    CHECK(backend.share(start) == 1);
    CHECK_FALSE(backend.answered(204, start, start));
    CHECK(backend.failed(start, start));
    CHECK(backend.state() == backend_state::ejected);
    CHECK_FALSE(backend.is_up());
    CHECK_FALSE(backend.failed(start, start + 1ms));
    CHECK(backend.due() == start + 1s);
}

TEST_CASE("a backend that is out is looked at by one, after a second") {
    circuit_breaker backend;
    CHECK_FALSE(backend.take_probe(start, start + 5s));
    backend.failed(start, start);
    CHECK_FALSE(backend.take_probe(start + 999ms, start + 6s));
    CHECK(backend.take_probe(start + 1s, start + 6s));
    CHECK_FALSE(backend.take_probe(start + 2s, start + 7s));
    SECTION("and by another if that one never comes back") {
        CHECK(backend.take_probe(start + 6s, start + 11s));
    }
    SECTION("and after twice the time if it still accepts nothing") {
        CHECK_FALSE(backend.failed(start + 1s, start + 2s));
        CHECK(backend.due() == start + 4s);
        CHECK_FALSE(backend.take_probe(start + 3'999ms, start + 9s));
        CHECK(backend.take_probe(start + 4s, start + 9s));
    }
}

TEST_CASE("the pause between looks doubles up to half a minute") {
    circuit_breaker backend;
    auto now = start;
    backend.failed(now, now);
    for (const auto pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        CHECK(backend.due() == now + pause);
        now += pause;
        REQUIRE(backend.take_probe(now, now + 5s));
        backend.failed(now, now);
    }
}

TEST_CASE("when it accepts connections, one request is its trial") {
    circuit_breaker backend;
    come_to_trial(backend);
    CHECK(backend.has_trial(start + 1s));
    CHECK(backend.take_trial(start + 1s, start + 10s));
    CHECK_FALSE(backend.has_trial(start + 2s));
    CHECK_FALSE(backend.take_trial(start + 2s, start + 11s));
    SECTION("which ends with an answer: the backend is well, with a share that grows") {
        CHECK(backend.answered(204, start + 1s, start + 3s) == 3s);
        CHECK(backend.state() == backend_state::healthy);
        CHECK(backend.share(start + 3s) == 0);
        CHECK(backend.share(start + 8s) == 0.5);
        CHECK(backend.share(start + 13s) == 1);
        CHECK_FALSE(backend.answered(204, start + 3s, start + 4s));
    }
    SECTION("which fails: it is out for longer, and nobody is told again") {
        CHECK_FALSE(backend.failed(start + 1s, start + 3s));
        CHECK(backend.state() == backend_state::ejected);
        CHECK(backend.due() == start + 5s);
    }
    SECTION("and another one's, if the first never ends") {
        CHECK(backend.take_trial(start + 10s, start + 20s));
    }
}

TEST_CASE("requests that began before say nothing of a backend as it is") {
    circuit_breaker backend;
    come_to_trial(backend);
    SECTION("they fail") {
        CHECK_FALSE(backend.failed(start, start + 2s));
        CHECK(backend.state() == backend_state::half_open);
    }
    SECTION("they are answered") {
        CHECK_FALSE(backend.answered(204, start, start + 2s));
        CHECK(backend.state() == backend_state::half_open);
    }
    SECTION("they were at a backend that has gone") {
        circuit_breaker other;
        other.failed(start, start);
        CHECK_FALSE(other.answered(204, start - 1s, start + 1ms));
        CHECK(other.state() == backend_state::ejected);
    }
}

TEST_CASE("a backend that fails while it still recovers is out for longer, one that had recovered is not") {
    circuit_breaker backend;
    come_to_trial(backend);
    backend.take_trial(start + 1s, start + 10s);
    backend.answered(204, start + 1s, start + 2s);
    SECTION("recovering") {
        CHECK(backend.failed(start + 3s, start + 3s));
        CHECK(backend.due() == start + 5s);
    }
    SECTION("recovered") {
        CHECK(backend.failed(start + 12s, start + 12s));
        CHECK(backend.due() == start + 13s);
    }
}

TEST_CASE("an answer of a backend that is out, when there was no other, brings it back") {
    circuit_breaker backend;
    backend.failed(start, start);
    CHECK(backend.answered(204, start + 100ms, start + 200ms) == 200ms);
    CHECK(backend.is_up());
}

TEST_CASE("five 503 in a row set a backend aside, and any other answer ends that") {
    circuit_breaker backend;
    for (unsigned i = 0; i < circuit_breaker::overloaded_max - 1; ++i) backend.answered(503, start, start);
    CHECK(backend.state() == backend_state::healthy);
    SECTION("with another answer between they are not in a row") {
        backend.answered(500, start, start);
        backend.answered(503, start, start);
        CHECK(backend.state() == backend_state::healthy);
    }
    SECTION("the fifth") {
        CHECK_FALSE(backend.answered(503, start, start));
        CHECK(backend.state() == backend_state::overloaded);
        CHECK(backend.is_up());
        CHECK_FALSE(backend.has_trial(start + 999ms));
        CHECK(backend.take_trial(start + 1s, start + 10s));
        SECTION("and the sixth after a second: it is set aside for longer") {
            CHECK_FALSE(backend.answered(503, start + 1s, start + 2s));
            CHECK(backend.due() == start + 4s);
            CHECK_FALSE(backend.has_trial(start + 2s));
        }
        SECTION("and another answer") {
            CHECK(backend.answered(204, start + 1s, start + 2s) == 2s);
            CHECK(backend.state() == backend_state::healthy);
            backend.answered(503, start + 3s, start + 3s);
            CHECK(backend.state() == backend_state::healthy);
        }
        SECTION("and no answer") {
            CHECK(backend.failed(start + 1s, start + 2s));
            CHECK(backend.state() == backend_state::ejected);
        }
    }
}

}  // namespace
}  // namespace seriesgate::testing::backend_health_test
