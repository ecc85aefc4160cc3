"""More connections than there is room for: idle ones, slow ones, aborted ones, and no descriptors left."""

import contextlib
import resource
import struct

import pytest

import recorded
from bounds import within
from client import RawConnection, head, post
from gate import sanitized
from upstream import Answer
from waiting import eventually
from world import socket, threading, time

GOOD = recorded.bodies("metadata-v1")[0]
SLOW_BUILD = sanitized("asan", "tsan", "ubsan")


@contextlib.contextmanager
def connections(gate, count, sending=b"", source="127.0.0.1"):
    """So many open connections from one address, each of which has sent the same."""
    made = []
    try:
        for _ in range(count):
            made.append(RawConnection(gate.address, source=source))
            made[-1].send_what_it_takes(sending)
        yield made
    finally:
        for connection in made:
            connection.close()


def bounded(start_gate, upstream, total, per_peer=0, more="", **how):
    return start_gate(f"--upstream.url={upstream.url}", **how,
                      config=f"server: {{maxConnections: {total}, maxConnectionsPerPeer: {per_peer}{more}}}\n")


def is_open(connection):
    """Whether the gate has not closed it."""
    connection.socket.settimeout(0.05)
    try:
        return connection.socket.recv(1, socket.MSG_PEEK) != b""
    except TimeoutError:
        return True
    except ConnectionResetError:
        return False
    finally:
        connection.socket.settimeout(20)


def given_up(gate, reason):
    return gate.metric("seriesgate_connections_given_up_total", reason=reason)


def turned_away(gate, reason):
    return gate.metric("seriesgate_connections_turned_away_total", reason=reason)


def test_the_longest_idle_connections_make_room_for_new_ones(start_gate, upstream):
    gate = bounded(start_gate, upstream, total=20)
    with connections(gate, 1) as (used,), connections(gate, 60) as idle:
        with within(gate, memory_mib=8, cpu=1, seconds=5):
            for _ in range(10):
                assert gate.send(GOOD).status == 204
                assert gate.get("/health").status == 200
        eventually(lambda: not is_open(used) and not any(is_open(each) for each in idle[:30]), "the oldest are closed")
        assert all(is_open(each) for each in idle[-5:])
        idle[-1].send(post(GOOD))
        assert idle[-1].reply().status == 204
        assert given_up(gate, "max_connections") >= 41
        eventually(lambda: gate.metric("seriesgate_connections") <= 20, "those that were given up are closed")
    eventually(lambda: gate.said("too many connections: some are closed or turned away"), "the log tells it")
    assert len(gate.said("too many connections: some are closed or turned away")) == 1, gate.log
    assert turned_away(gate, "max_connections") == 0


def test_a_peer_with_too_many_connections_closes_its_own(start_gate, upstream):
    gate = bounded(start_gate, upstream, total=100, per_peer=10)
    with connections(gate, 5, source="127.0.0.2") as others, connections(gate, 50) as greedy:
        assert gate.send(GOOD).status == 204
        eventually(lambda: not any(is_open(each) for each in greedy[:30]), "those of the greedy one are closed")
        assert all(is_open(each) for each in others)
        for each in others:
            each.send(post(GOOD))
            assert each.reply().status == 204
        assert given_up(gate, "max_connections_per_peer") >= 40
        assert given_up(gate, "max_connections") == 0


def test_who_finds_only_work_in_progress_is_told_to_come_again_and_health_is_answered(start_gate, upstream):
    held = threading.Event()
    upstream.default = Answer(hold=held)
    gate = bounded(start_gate, upstream, total=10)
    with connections(gate, 10, post(GOOD)) as working:
        try:
            eventually(lambda: len(upstream.requests) == 10, "all are being worked on")
            with within(gate, memory_mib=8, cpu=0.5, seconds=3):
                for _ in range(5):
                    reply = gate.send(GOOD)
                    assert reply.status == 503 and int(reply.get("Retry-After")) >= 1, reply
                    assert reply.get("Connection") == "close"
                    assert gate.get("/health").status == 200
                    assert gate.get("/-/ready").status == 200
            assert turned_away(gate, "max_connections") == 5
            assert given_up(gate, "max_connections") == 0
        finally:
            held.set()
        assert [each.reply().status for each in working] == [204] * 10
    assert len(upstream.requests) == 10
    assert gate.send(GOOD).status == 204


def test_a_flood_that_leaves_no_room_even_for_guests_is_counted_and_survived(start_gate, upstream):
    held = threading.Event()
    upstream.default = Answer(hold=held)
    gate = bounded(start_gate, upstream, total=10)
    with connections(gate, 10, post(GOOD)) as working, connections(gate, 300) as flood:
        try:
            eventually(lambda: len(upstream.requests) == 10, "all are being worked on")
            assert gate.get("/health").status == 200
            assert eventually(lambda: turned_away(gate, "max_connections") >= 200, "they are counted")
            assert gate.metric("seriesgate_connections") <= 10 + 9 + 64 + 16
            assert sum(is_open(each) for each in flood) <= 64
        finally:
            held.set()
        assert [each.reply().status for each in working] == [204] * 10
    assert gate.send(GOOD).status == 204


@pytest.mark.parametrize("part", [b"P", post(GOOD)[:30], post(GOOD)[:-5]], ids=["a byte", "a header", "a body"])
def test_requests_that_dribble_in_make_room_for_others(start_gate, upstream, part):
    gate = bounded(start_gate, upstream, total=20)
    with connections(gate, 20, part) as slow:
        eventually(lambda: gate.send(GOOD).status == 204, "one that takes longer than a second is closed", seconds=5)
        assert gate.get("/health").status == 200
        assert sum(is_open(each) for each in slow) >= 10
        assert given_up(gate, "max_connections") >= 1


def test_silent_and_halting_connections_keep_nobody_waiting_and_are_closed_in_time(start_gate, upstream):
    gate = bounded(start_gate, upstream, total=1000, more=", idleTimeout: 1s, readTimeout: 1s")
    with within(gate, memory_mib=32, cpu=1.5, seconds=10), contextlib.ExitStack() as open_ones:
        groups = [open_ones.enter_context(connections(gate, 100, start)) for start in (b"", b"P", b"G", b"\r")]
        for _ in range(20):
            assert gate.send(GOOD).status == 204
            assert gate.get("/health").status == 200
        eventually(lambda: gate.metric("seriesgate_connections") == 1, "they are closed", every=0.1)
        eventually(lambda: not any(is_open(each) for each in groups[0]), "their senders see it")


def test_connections_that_are_aborted_at_once_never_stop_the_others(gate, upstream):
    with within(gate, memory_mib=8, cpu=1.5, seconds=10):
        for at in range(600):
            with socket.socket() as aborted:
                aborted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                aborted.connect(gate.address)
                if at % 3:
                    aborted.send(b"GET /health HTTP/1.1\r\n\r\n" if at % 3 == 1 else post(GOOD))
            if at % 50 == 0:
                assert gate.send(GOOD).status == 204
    eventually(lambda: gate.metric("seriesgate_connections") == 1, "only the asking one is left")


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
        resource.prlimit(gate.pid, resource.RLIMIT_NOFILE, (48, 48))
        with connections(gate, 64), within(gate, memory_mib=8, cpu=0.5, seconds=3):
            assert gate.send(GOOD).status == 204
            assert gate.get("/health").status == 200
            assert given_up(gate, "descriptors") > 20
            eventually(lambda: gate.metric("seriesgate_connections") <= 16, "those that were given up are closed")
    assert gate.said("server.maxConnections is lowered, there are fewer descriptors", max_connections="8")
    assert len(gate.said("cannot accept a connection")) == 1, gate.log


def test_requests_for_both_threads_take_turns_on_one_connection(gate, upstream):
    asked = [head("GET", "/health"), post(GOOD), head("HEAD", "/-/ready"), head("GET", "/-/healthy"), post(GOOD)]
    methods = ["GET", "POST", "HEAD", "GET", "POST"]
    for begin in range(3):
        for pieces in (1, 7, 600):
            whole = b"".join(asked[begin:])
            with gate.raw() as connection:
                size = -(-len(whole) // pieces)
                for at in range(0, len(whole), size):
                    connection.send(whole[at:at + size])
                for method in methods[begin:]:
                    assert connection.reply(method).status == (204 if method == "POST" else 200), (begin, pieces)
    assert upstream.bodies == [GOOD] * 15
