"""Two gates one behind the other. One that stands before itself, and Connection headers: tests/scenes/test_hops.py."""

import pytest

import wire
from servers import free_port

pytestmark = pytest.mark.one_thread

BODY = wire.pack(wire.sampled("up", job="a"))


def looped(gate):
    return gate.metric("seriesgate_requests_rejected_total", reason="loop")


def test_two_gates_in_a_circle_say_so(start_gate):
    """The first one, which has seen the request before: every gate has a name of its own."""
    ports = free_port(), free_port()
    first = start_gate(f"--listen=127.0.0.1:{ports[0]}", f"--upstream.url=http://127.0.0.1:{ports[1]}/api/v1/write")
    second = start_gate(f"--listen=127.0.0.1:{ports[1]}", f"--upstream.url=http://127.0.0.1:{ports[0]}/api/v1/write")
    assert first.send(BODY).status == 508
    assert (looped(first), looped(second)) == (1, 0)
