"""Headers: what they cost while they are incomplete, and what is left of them. How large they may be: tests/scenes."""

import contextlib

import pytest

import recorded
import wire
from bounds import MIB, within
from client import head
from crowding import connections
from gate import sanitized
from waiting import eventually

GOOD = wire.pack(wire.sampled("up", job="a"))
SENDERS = 100 if sanitized("asan", "tsan", "ubsan") else 1000
LINES = 90  # the request line and Host are lines, too


@pytest.mark.parametrize("header, bytes_each", [
    (head()[:-2] + b"a:b\r\n" * LINES, 1 << 10),
    (head()[:-2] + b"a:" + b"x" * 30_000, 32 << 10),
], ids=["tiny lines", "a long line"])
def test_an_incomplete_header_takes_about_its_bytes(gate, header, bytes_each):
    assert gate.send(GOOD).status == 204
    with within(gate, memory_mib=SENDERS * (3 * bytes_each + 32_768) / MIB, cpu=2):
        with connections(gate, SENDERS, header):
            eventually(lambda: gate.metric("seriesgate_inflight_bytes") >= SENDERS * len(header), "all have come")
            assert gate.metric("seriesgate_inflight_bytes") < SENDERS * len(header) + 1000
            assert gate.send(GOOD).status == 204
        eventually(lambda: gate.metric("seriesgate_inflight_bytes") < 1000, "all is given back")


def test_an_idle_connection_keeps_no_large_buffer(gate, upstream):
    senders = 50 if SENDERS < 1000 else 300
    body = b"x" * 200_000
    request = head(headers=[*recorded.HEADERS, ("Content-Length", len(body))]) + body
    with within(gate, memory_mib=16 + senders * 20_480 / MIB), contextlib.ExitStack() as stack:
        for _ in range(senders):
            connection = stack.enter_context(gate.raw())
            connection.send(request)
            assert connection.reply().status == 400  # no snappy
