"""Handshakes without end: they slow nobody who has one behind, and hold a bounded amount."""

import contextlib
import ssl
import subprocess
import sys
import time

import pytest

import client
import recorded
from bounds import within
from gate import sanitized
from secure import Secured, ask, connection, metrics, write
from waiting import eventually

GOOD = recorded.bodies("metadata-v1")[0]
SLOW_BUILD = sanitized("asan", "tsan", "ubsan")


@pytest.fixture
def secured(tmp_path):
    return Secured(tmp_path)


def with_large_key(secured):
    """The dearest handshake that is usual: RSA with 4096 bits."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:4096", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", secured.key, "-out",
                    secured.certificate], check=True, capture_output=True)
    context = ssl.create_default_context(cafile=str(secured.certificate))
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # and without tickets: each is a whole one
    context.options |= ssl.OP_NO_TICKET
    return context


FLOOD = """
import socket, ssl, sys, threading
port, authority = int(sys.argv[1]), sys.argv[2]
context = ssl.create_default_context(cafile=authority)
context.maximum_version = ssl.TLSVersion.TLSv1_2
context.options |= ssl.OP_NO_TICKET
def shake():
    while True:
        try:
            with context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost"):
                pass
        except OSError:
            pass
for _ in range(25):
    threading.Thread(target=shake, daemon=True).start()
threading.Event().wait()
"""


@contextlib.contextmanager
def fifty_clients(gate, secured):
    """They shake hands as fast as they can, in processes of their own: nobody here waits for their interpreter."""
    flood = [subprocess.Popen([sys.executable, "-c", FLOOD, str(gate.address[1]), str(secured.certificate)])
             for _ in range(2)]
    try:
        yield
    finally:
        for each in flood:
            each.kill()
            each.wait()


def times(what, seconds):
    """How long each of as many as there is time for took, sorted."""
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        what()
        took.append(time.monotonic() - began)
        time.sleep(0.01)
    return sorted(took)


def part(took, share):
    return took[int(len(took) * share)]


@pytest.mark.slow
def test_a_flood_of_handshakes_slows_nobody_who_is_connected(start_gate, upstream, secured):
    context = with_large_key(secured)
    gate = start_gate(f"--upstream.url={upstream.url}", secured.web())
    sender, prober = connection(gate.address, context), connection(gate.address, context)

    def probe():
        prober.request("GET", "/-/healthy")
        assert prober.getresponse().read() == b"OK\n"

    def send():
        assert write(sender, GOOD) == 204

    quiet_send, quiet_probe = times(send, 3), times(probe, 1)
    before = completed(gate, context)
    with fifty_clients(gate, secured):
        eventually(lambda: completed(gate, context) > before + 50, "the flood is on", seconds=60)
        flooded_send, flooded_probe = times(send, 5), times(probe, 3)
        assert completed(gate, context) > before + 100
    # The flood takes processors from all of us, us included; what it must not do is to keep anybody waiting in a line.
    slack = 0.3 if SLOW_BUILD else 0.05
    assert part(flooded_probe, 0.9) <= 2 * part(quiet_probe, 0.9) + slack, (quiet_probe[-5:], flooded_probe[-5:])
    assert part(flooded_send, 0.9) <= 2 * part(quiet_send, 0.9) + slack, (quiet_send[-5:], flooded_send[-5:])


def completed(gate, context):
    return metrics(gate, context)["seriesgate_tls_handshakes_total", frozenset({("outcome", "completed")})]


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
    assert metrics(gate, context)["seriesgate_connections", frozenset()] == 1
