"""What is in flight when the gate is told to end. Signals and command lines: tests/e2e/test_life_cycle.py."""

import pytest

import recorded
import wire
from client import head, post, refuses
from upstream import holding
from waiting import eventually
from world import time

GOOD = wire.pack(wire.sampled("up", job="a"))


def test_connections_without_a_request_do_not_hold_up_the_end(gate):
    with gate.raw(), gate.client() as used:
        assert used.write(GOOD).status == 204
        gate.signal()
        started = time.monotonic()
        assert gate.wait() == 0
        assert time.monotonic() - started < 1.1, "a second for a request that is on its way: drainTimeout is 30 s"


def test_a_sender_in_the_middle_of_its_body_may_finish_it(gate, upstream):
    with gate.raw() as connection:
        connection.send(head(headers=[*recorded.HEADERS, ("Content-Length", len(GOOD)), ("Expect", "100-continue")]))
        connection.continues()  # so it has begun to read
        connection.send(GOOD[:-10])
        gate.signal()
        eventually(lambda: refuses(gate.address), "new connections are refused")
        connection.send(GOOD[-10:])
        assert connection.reply().status == 204
        assert upstream.bodies == [GOOD]
    assert gate.wait() == 0


def test_the_drain_has_a_bound(limited, upstream):
    gate = limited("server: {drainTimeout: 1s}\n")
    with holding(upstream), gate.raw() as connection:
        connection.send(post(GOOD))
        eventually(lambda: upstream.requests, "the request is upstream")
        started = time.monotonic()
        gate.signal()
        assert gate.wait() == 0
        assert time.monotonic() - started == pytest.approx(1, abs=0.01)


def test_a_gate_that_never_had_a_request_ends_at_once(gate):
    started = time.monotonic()
    gate.stop()
    assert time.monotonic() - started < 0.1
    assert gate.errors == []
