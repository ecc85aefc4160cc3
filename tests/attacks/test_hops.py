"""Several gates one behind the other. One that stands before itself, and Connection headers: tests/scenes/test_hops.py."""

import pytest

import wire
import wire_v2
from servers import free_port

pytestmark = pytest.mark.one_thread

BODY = wire.pack(wire.sampled("up", job="a"))


def test_every_gate_has_a_name_of_its_own(start_gate, upstream):
    for _ in range(2):
        start_gate(f"--upstream.url={upstream.url}").send(BODY)
    first, second = (request.get("Via") for request in upstream.requests)
    assert first.startswith("1.1 seriesgate-") and second.startswith("1.1 seriesgate-") and first != second


def looped(gate):
    return gate.metric("seriesgate_requests_rejected_total", reason="loop")


def test_two_gates_in_a_circle_say_so(start_gate):
    ports = free_port(), free_port()
    first = start_gate(f"--listen=127.0.0.1:{ports[0]}", f"--upstream.url=http://127.0.0.1:{ports[1]}/api/v1/write")
    second = start_gate(f"--listen=127.0.0.1:{ports[1]}", f"--upstream.url=http://127.0.0.1:{ports[0]}/api/v1/write")
    assert first.send(BODY).status == 508
    assert (looped(first), looped(second)) == (1, 0)


def test_a_chain_of_gates_is_no_loop_but_a_long_one_is(start_gate, upstream):
    last, url = None, upstream.url
    for gates in range(1, 6):
        last = start_gate(f"--upstream.url={url}")
        url = f"{last.url}/api/v1/write"
        upstream.clear()
        assert last.send(BODY).status == (204 if gates <= 4 else 508), gates
        assert len(upstream.requests) == (1 if gates <= 4 else 0)
    assert last.send(BODY, wire_v2.HEADERS).status != 204
