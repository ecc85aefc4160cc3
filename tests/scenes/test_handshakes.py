"""Handshakes that come to no end: they hold a bounded amount, and let others in. A flood of them: tests/attacks."""

import contextlib
import ssl

import pytest

import client
import recorded
from bounds import within
from secure import Secured, ask, connection, metrics, write
from waiting import eventually

GOOD = recorded.bodies("metadata-v1")[0]


@pytest.fixture
def secured(tmp_path):
    return Secured(tmp_path)


def test_silent_handshakes_hold_a_bounded_amount_and_let_others_in(start_gate, upstream, secured):
    gate = start_gate(f"--upstream.url={upstream.url}", secured.web(),
                      config="server: {maxHandshakes: 200, handshakeTimeout: 30s}\n")
    context = secured.trusting()
    established = connection(gate.address, context)
    assert write(established, GOOD) == 204
    hello = first_flight(context)
    silent = []
    with within(gate, memory_mib=64, cpu=10, seconds=60):
        for at in range(600):
            silent.append(client.RawConnection(gate.address, source=f"127.0.{1 + at % 50}.1"))
            silent[-1].send_what_it_takes(hello[:1 + at % len(hello)])
        for _ in range(5):
            assert ask(gate.admin_address, context) == 200
            assert write(established, GOOD) == 204
    found = metrics(gate, context)
    assert found["seriesgate_tls_handshakes_running", frozenset()] <= 200
    assert found["seriesgate_connections_given_up_total", frozenset({("reason", "max_handshakes")})] >= 300
    for each in silent:
        each.close()


def first_flight(context):
    """What a client says first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


def test_clients_that_leave_amid_a_handshake_leave_nothing_behind(start_gate, upstream, secured):
    gate = start_gate(f"--upstream.url={upstream.url}", secured.web())
    context = secured.trusting()
    hello = first_flight(context)
    with within(gate, memory_mib=32, cpu=10, seconds=60):
        for at in range(500):
            with client.RawConnection(gate.address) as leaving:
                leaving.send_what_it_takes(hello[:at % (len(hello) + 1)])
    eventually(lambda: metrics(gate, context)["seriesgate_tls_handshakes_running", frozenset()] == 0, "all are over")
    eventually(lambda: metrics(gate, context)["seriesgate_connections", frozenset()] == 1, "and their connections closed")
