"""Connection headers that are dear to read, and a gate that stands before itself."""

import pytest

import wire
from bounds import within
from client import RawConnection, post
from faked_names import FakedNames
from upstream import Answer
from waiting import eventually

BODY = wire.pack(wire.sampled("up", job="a"))


def test_the_configured_tenant_header_belongs_to_no_hop(limited, upstream):
    gate = limited("tenants: {header: X-Team}\n")
    gate.send(BODY, [("Connection", "x-team, X-Other"), ("X-Team", "a"), ("X-Other", "b")])
    assert upstream.requests[0].all("X-Team") == ["a"]
    assert upstream.requests[0].all("X-Other") == []


@pytest.mark.parametrize("gates, status", [(3, 204), (4, 508)])
def test_how_many_gates_a_request_has_passed_is_read_from_its_via(gate, gates, status):
    """Also if a Connection header takes it off."""
    assert gate.send(BODY, [*[("Via", "1.1 seriesgate")] * gates, ("Connection", "Via")]).status == status


def names(count, size=4):
    return [f"{n:0{size}x}" for n in range(count)]


# 56 KB of header: lines that a Connection header names, or does not.
STORMS = {
    "short names": [("Connection", ",".join("x" * 13_000)), *((name, "") for name in names(3200))],
    "one list": [("Connection", ",".join(names(4000))), *((name, "") for name in names(4000, 5))],
    "many lists": [*(("Connection", name) for name in names(1600)), *((name, "") for name in names(3000, 5))],
    "commas": [("Connection", "," * 30_000), *((name, "") for name in names(3000))],
}


@pytest.mark.parametrize("storm", STORMS.values(), ids=STORMS)
def test_a_connection_header_costs_what_its_bytes_cost(gate, storm):
    request = post(BODY, headers=storm)
    assert len(request) < 65_000
    with within(gate, memory_mib=32, cpu=0.5):
        for _ in range(10):
            with RawConnection(gate.address) as raw:
                raw.send_what_it_takes(request)
                assert raw.reply().status in (204, 400, 431)


def test_so_does_that_of_the_store(gate, upstream):
    upstream.default = Answer(204, STORMS["one list"])
    with within(gate, memory_mib=32, cpu=0.5):
        for _ in range(10):
            with RawConnection(gate.address) as raw:
                raw.send(post(BODY, headers=[("Connection", "close")]))
                assert raw.read_to_end().startswith((b"HTTP/1.1 204", b"HTTP/1.1 502"))


def test_a_gate_before_itself_says_so_at_once(start_gate, tmp_path):
    names, port = FakedNames(tmp_path), 9201
    names.set(**{"store.test": "127.0.0.1"})  # its own address under a name: the configuration does not show it
    gate = start_gate(f"--listen=127.0.0.1:{port}", f"--upstream.url=http://store.test:{port}/api/v1/write",
                      environment=names.environment, config=names.one_thread)
    with within(gate, memory_mib=16, cpu=0.3, seconds=2):
        reply = gate.send(BODY)
    assert reply.status == 508 and b"loop" in reply.body.lower()
    assert gate.metric("seriesgate_requests_rejected_total", reason="loop") == 1
    eventually(lambda: "loop" in gate.log, "a line about it")
    assert gate.stats["requests"]["total"] == 2
