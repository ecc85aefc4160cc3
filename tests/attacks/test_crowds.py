"""Ten thousand idle and five hundred slow connections (a byte a second), while real senders go on as if alone."""

import contextlib
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import recorded
from bounds import cpu_seconds, memory
from gate import sanitized
from secure import Secured
from waiting import eventually
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.extended, pytest.mark.xdist_group("crowds"), pytest.mark.timeout(300)]

SLOW_BUILD = sanitized("asan", "tsan", "ubsan")
IDLE, SLOW = (1000, 50) if SLOW_BUILD else (10_000, 500)
IDLE_TLS = 100 if SLOW_BUILD else 1000
KIB_FOR_EACH_IDLE, KIB_FOR_EACH_IDLE_TLS = 8, 40
P99_FINE = 0.001  # s: below it, what is measured is the machine
BODY = recorded.bodies("metadata-v1")[0]
WINDOWS, REQUESTS = 7, 300
ATTEMPTS = 4  # others share the machine


@contextlib.contextmanager
def crowd(gate, idle, slow, *more):
    """That many connections from many addresses. Yields a function that ends them; @return how many had been closed"""
    script = Path(__file__).parent / "crowds.py"
    process = subprocess.Popen([sys.executable, script, str(gate.address[1]), str(idle), str(slow), *more],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end():
        said, _ = process.communicate("end\n", timeout=60)
        return int(said)

    try:
        assert process.stdout.readline() == "ready\n"
        yield end
    finally:
        process.kill()
        process.wait()


def percentile_of(gate):
    """p99 of one window of requests, one after the other on one connection, in seconds."""
    took = []
    with gate.client() as sender:
        for _ in range(REQUESTS):
            began = time.perf_counter()
            assert sender.write(BODY).status == 204
            took.append(time.perf_counter() - began)
    return statistics.quantiles(took, n=100)[-1]


def typical(gate):
    return statistics.median(percentile_of(gate) for _ in range(WINDOWS))


def within_descriptors(start_gate, upstream):
    """A gate to which nobody is too slow, and how many idle connections it has room for: IDLE, if RLIMIT_NOFILE allows."""
    room = IDLE + SLOW + 200
    text = (f"server: {{maxConnections: {room}, readTimeout: 10m, headerTimeout: 10m, idleTimeout: 10m, threads: 2}}\n"
            "upstream: {maxConnections: 64}\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        gate = start_gate(f"--upstream.url={upstream.url}", config=text)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for lowered in gate.said("server.maxConnections is lowered, the process may have too few descriptors"):
        room = int(lowered["max_connections"])
    idle = min(IDLE, room - SLOW - 100)
    if idle < IDLE * 0.8:
        pytest.skip(f"ulimit -Hn is {hard}: room for {idle} idle connections")
    return gate, idle


def test_a_crowd_of_idle_and_slow_connections_slows_nobody_down(start_gate, upstream):
    gate, idle = within_descriptors(start_gate, upstream)
    percentile_of(gate)  # all is warm
    for attempt in range(ATTEMPTS):
        alone = typical(gate)
        with crowd(gate, idle, SLOW) as end:
            assert gate.metric("seriesgate_connections") >= idle + SLOW
            spent, began = cpu_seconds(gate), time.monotonic()
            beside = typical(gate)
            rate = (cpu_seconds(gate) - spent) / (time.monotonic() - began)
            assert gate.get("/health").status == 200
            assert gate.get("/stats").status == 200
            assert end() == 0, "none of them was closed"
        eventually(lambda: gate.metric("seriesgate_connections") < 10, "they are gone", 60, every=0.1)
        alone = statistics.median([alone, typical(gate)])
        print(f"p99 alone {alone * 1000:.2f} ms, beside the crowd {beside * 1000:.2f} ms, {rate:.2f} of a core")
        if beside <= max(2 * alone, P99_FINE):
            break
    assert beside <= max(2 * alone, P99_FINE), "the crowd slows them down"
    turned_away = gate.stats["connections"]["turnedAwayByReason"] | gate.stats["connections"]["givenUpByReason"]
    assert set(turned_away.values()) == {0}


def grown_by_each(gate, idle, crowds, *more):
    """KiB that each connection takes, of one crowd after the other; the crowds take no processor, and none of them is closed."""
    before, grown = memory(gate), []
    for _ in range(crowds):
        with crowd(gate, idle, 0, *more) as end:
            grown.append((memory(gate) - before) / 1024 / idle)
            spent = cpu_seconds(gate)
            time.sleep(3)
            assert (cpu_seconds(gate) - spent) / 3 <= (0.5 if SLOW_BUILD else 0.05), "it takes processor"
            assert end() == 0, "none of them was closed"
        eventually(lambda: gate.metric("seriesgate_connections") < 10, "they are gone", 60, every=0.1)
    print(f"{', '.join(f'{each:.2f}' for each in grown)} KiB for each of {idle} idle connections {more}")
    return grown


def test_an_idle_connection_takes_little_memory_no_processor_and_gives_it_back(start_gate, upstream):
    gate, idle = within_descriptors(start_gate, upstream)
    percentile_of(gate)
    grown = grown_by_each(gate, idle, 3)
    if not SLOW_BUILD:
        assert max(grown) <= KIB_FOR_EACH_IDLE
        assert grown[2] <= grown[0] * 1.1 + 0.1, "the second and third crowd take what the first has left"


def test_a_crowd_with_tls_takes_little_memory_and_no_processor(start_gate, upstream, tmp_path):
    secured = Secured(tmp_path)
    gate = start_gate(f"--upstream.url={upstream.url}", secured.web(), authority=secured.authority.certificate,
                      config="server: {idleTimeout: 10m, threads: 2}\n")
    with crowd(gate, 10, 0, "tls"):
        pass  # what OpenSSL keeps once
    grown = grown_by_each(gate, IDLE_TLS, 2, "tls")
    if not SLOW_BUILD:
        assert max(grown) <= KIB_FOR_EACH_IDLE_TLS
