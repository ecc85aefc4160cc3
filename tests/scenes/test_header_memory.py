"""Headers: how large they may be, what thousands of tiny ones cost, and which are none."""

import contextlib

import wire
from bounds import within
from client import head
from tables import check_rows
from waiting import eventually
from world import select

GOOD = wire.pack(wire.sampled("up", job="a"))


def test_thousands_of_tiny_lines_are_refused_for_little(gate):
    with within(gate, memory_mib=32, cpu=2):
        for _ in range(100):
            with gate.raw() as connection:
                connection.send_what_it_takes(head()[:-2] + b"a:\r\n" * 16_000)
                assert connection.reply().status == 431


def test_headers_count_among_the_bytes_in_flight(start_gate, upstream):
    gate = start_gate(config=f"upstream: {{url: '{upstream.url}'}}\n"
                             "server: {maxInflightBytes: 192KiB, maxRequestBytes: 64KiB, maxDecodedBytes: 64KiB}\n")
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(gate.raw()) for _ in range(6)]
        for connection in connections:
            connection.send(head()[:-2] + b"a:" + b"x" * 40_000)

        def refused():
            sockets = {connection.socket: connection for connection in connections}
            return [sockets[each] for each in select.select(list(sockets), [], [], 0)[0]]
        eventually(lambda: len(refused()) >= 2, "there is no room for all")
        for connection in refused():
            reply = connection.reply()
            assert (reply.status, reply.get("Retry-After")) == (503, "1")
            assert connection.closed_within(5)
    eventually(lambda: gate.metric("seriesgate_inflight_bytes") < 1000, "all is given back")
    assert gate.send(GOOD).status == 204


def test_how_large_a_header_may_be(gate):
    """With the request line, Host, Content-Length: 100 lines and 64 KiB."""
    def may_be(sent, lines, size, status):
        data = head(headers=[("Content-Length", len(GOOD)), *[("X-Long", "x" * size)] * lines]) + GOOD
        with gate.raw() as connection:
            if sent == "at once":
                connection.send_what_it_takes(data)
            else:
                for at in range(0, len(data), 1000):
                    connection.send_what_it_takes(data[at:at + 1000])
            assert connection.reply().status == status

    rows = [(97, 100, 204), (98, 100, 431), (1, 65_000, 204), (1, 65_536, 431)]
    check_rows({f"{sent}, {row}": (sent, *row) for sent in ("at once", "in pieces") for row in rows}, may_be, gate)
