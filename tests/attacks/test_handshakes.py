"""Handshakes without end: they slow nobody who has one behind. What they hold: tests/scenes/test_tls_in.py."""

import contextlib
import ssl
import subprocess
import sys
import threading

import pytest

import recorded
from gate import sanitized
from open_loop import latencies, quantile
from secure import Secured, connection, metrics, write
from servers import free_port

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
import os, socket, ssl, sys, threading
port, authority = int(sys.argv[1]), sys.argv[2]
context = ssl.create_default_context(cafile=authority)
context.maximum_version = ssl.TLSVersion.TLSv1_2
context.options |= ssl.OP_NO_TICKET
def shake():
    while True:
        try:
            with context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost"):
                os.write(1, b"done\\n")  # in one piece, whatever the other threads write
        except OSError:
            pass
for _ in range(25):
    threading.Thread(target=shake, daemon=True).start()
threading.Event().wait()
"""


@contextlib.contextmanager
def fifty_clients(port, secured):
    """They shake hands as fast as they can, in processes of their own: nobody here waits for their interpreter."""
    flood = [subprocess.Popen([sys.executable, "-c", FLOOD, str(port), str(secured.certificate)],
                              stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for each in flood:
            assert each.stdout.readline() == b"done\n"  # the flood is on
            threading.Thread(target=each.stdout.read, daemon=True).start()
        yield
    finally:
        for each in flood:
            each.kill()
            each.wait()


@contextlib.contextmanager
def another_server(secured):
    """One that shakes hands on one thread, as the gate does, and has nothing to do with it. @return its port"""
    port = free_port()
    server = subprocess.Popen(["openssl", "s_server", "-quiet", "-www", "-accept", f"127.0.0.1:{port}", "-cert",
                               str(secured.certificate), "-key", str(secured.key)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        server.kill()
        server.wait()


@pytest.mark.slow
def test_a_flood_of_handshakes_slows_nobody_who_is_connected(start_gate, upstream, secured):
    """No more than one that another program has on the same machine, for both take processors from all of us."""
    context = with_large_key(secured)
    gate = start_gate(f"--upstream.url={upstream.url}", secured.web())
    sender, prober = connection(gate.address, context), connection(gate.address, context)

    def probe():
        prober.request("GET", "/-/healthy")
        assert prober.getresponse().read() == b"OK\n"

    def send():
        assert write(sender, GOOD) == 204

    elsewhere, here = ([], []), ([], [])
    before = completed(gate, context)
    with another_server(secured) as port:
        for _ in range(4):  # in turn, so that both meet whatever else the machine does
            for (sent, probed), flooded in ((elsewhere, port), (here, gate.address[1])):
                with fifty_clients(flooded, secured):
                    sent += latencies(send, 1.5)
                    probed += latencies(probe, 1)
    assert completed(gate, context) > before + 200, "a flood"
    slack = 0.1 if SLOW_BUILD else 0.02
    for here_took, elsewhere_took in zip(map(sorted, here), map(sorted, elsewhere)):
        for share in (0.5, 0.9, 0.98):
            bound = 2 * quantile(elsewhere_took, share) + slack
            assert quantile(here_took, share) <= bound, (share, here_took[-20:], elsewhere_took[-20:])


def completed(gate, context):
    return metrics(gate, context)["seriesgate_tls_handshakes_total", frozenset({("outcome", "completed")})]
