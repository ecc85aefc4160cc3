"""More connections than there are descriptors, and what headers cost. More than there is room for: tests/scenes."""

import contextlib
import resource

import pytest

import recorded
import wire
from bounds import MIB, within
from client import head, post
from crowding import connections, given_up, is_open
from gate import sanitized
from tables import check_rows
from waiting import eventually
from world import time

GOOD = recorded.bodies("metadata-v1")[0]


@pytest.mark.skipif(sanitized("ubsan"), reason="UBSan asks with a pipe whether an object may be read")
def test_few_descriptors_lower_the_bound_and_the_state_is_saved(start_gate, upstream, tmp_path):
    gate = start_gate(f"--upstream.url={upstream.url}", descriptors=256,
                      config=f"state: {{dir: {tmp_path / 'state'}, interval: 100ms}}\nserver: {{threads: 2}}\n")
    assert gate.said("server.maxConnections is lowered, the process may have too few descriptors", configured="8192",
                     descriptors="256")
    with connections(gate, 400) as idle, connections(gate, 100, post(GOOD)):
        for at in range(10):
            saves = gate.metric("seriesgate_state_saves_total")
            eventually(lambda: gate.send(recorded.bodies()[at]).status == 204, "one of the idle has made room")
            eventually(lambda: gate.metric("seriesgate_state_saves_total") > saves, "the state is saved")
        assert gate.metric("process_open_fds") < 200
        assert not is_open(idle[0])
    assert gate.metric("seriesgate_state_save_failures_total") == 0
    assert not gate.said("cannot accept a connection")


@pytest.mark.skipif(sanitized("ubsan"), reason="UBSan asks with a pipe whether an object may be read")
def test_when_descriptors_are_taken_away_idle_connections_are_closed(gate, upstream):
    assert gate.send(GOOD).status == 204
    with connections(gate, 40):
        eventually(lambda: gate.metric("seriesgate_connections") >= 40, "all of them are accepted")
        began = time.monotonic()
        resource.prlimit(gate.pid, resource.RLIMIT_NOFILE, (48, 48))
        with connections(gate, 64), within(gate, memory_mib=8, cpu=0.5, seconds=3):
            assert gate.send(GOOD).status == 204
            assert gate.get("/health").status == 200
            assert given_up(gate, "descriptors") > 20
            eventually(lambda: gate.metric("seriesgate_connections") <= 16, "those that were given up are closed")
    eventually(lambda: gate.said("server.maxConnections is lowered, there are fewer descriptors", max_connections="8"),
               "the log says so")
    lines = eventually(lambda: gate.said("cannot accept a connection"), "the log says so")
    assert len(lines) <= 1 + (time.monotonic() - began) / 10, gate.log


# --- what headers cost while they are incomplete, and what is left of them

SMALL = wire.pack(wire.sampled("up", job="a"))
SENDERS = 100 if sanitized("asan", "tsan", "ubsan") else 1000
LINES = 90  # the request line and Host are lines, too
UNCOUNTED = 4096  # bytes of each header that take no room


def test_an_incomplete_header_takes_about_its_bytes(start_gate, upstream):
    def takes(header, bytes_each):
        gate = start_gate(f"--upstream.url={upstream.url}", config="server: {headerTimeout: 5m, readTimeout: 5m}\n")
        assert gate.send(SMALL).status == 204
        with within(gate, memory_mib=SENDERS * (3 * bytes_each + 32_768) / MIB, cpu=2):
            with connections(gate, SENDERS, header):
                counted = SENDERS * max(0, len(header) - UNCOUNTED)
                eventually(lambda: gate.metric("seriesgate_connections") > SENDERS
                           and gate.metric("seriesgate_inflight_bytes") >= counted, "all have come")
                assert gate.metric("seriesgate_inflight_bytes") < counted + 1000
                assert gate.send(SMALL).status == 204
            eventually(lambda: gate.metric("seriesgate_inflight_bytes") < 1000, "all is given back")

    begun = head()[:-2]
    check_rows({"tiny lines": (begun + b"a:b\r\n" * LINES, 1 << 10), "a long line": (begun + b"a:" + b"x" * 30_000, 32 << 10)}, takes)


def test_an_idle_connection_keeps_no_large_buffer(gate, upstream):
    senders = 50 if SENDERS < 1000 else 300
    body = b"x" * 200_000
    request = head(headers=[*recorded.HEADERS, ("Content-Length", len(body))]) + body
    with within(gate, memory_mib=16 + senders * 20_480 / MIB), contextlib.ExitStack() as stack:
        for _ in range(senders):
            connection = stack.enter_context(gate.raw())
            connection.send(request)
            assert connection.reply().status == 400  # no snappy
