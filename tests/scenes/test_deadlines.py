"""Nothing that a sender or an upstream does, or does not do, makes the gate wait without end."""

import contextlib

import pytest

import recorded
import wire
from bounds import MIB, within
from client import head, post, refuses
from dribbling import HostileUpstream, send_for_ever
from upstream import Answer, holding
from waiting import eventually
from world import ThreadPoolExecutor, socket, threading, time

GOOD = wire.pack(wire.sampled("up", job="a"))
CHUNKED = head(headers=[*recorded.HEADERS, ("Transfer-Encoding", "chunked")])
SENDERS = 30
PATIENCE = 8


@pytest.fixture
def hasty(limited):
    """A gate that gives a request one second."""
    return limited("server: {readTimeout: 1s, idleTimeout: 2s}\n")


def assert_all_are_told(gate, status, body=GOOD, count=20):
    """So many that send side by side; and nothing of them is left."""
    with ThreadPoolExecutor(count) as pool:
        replies = list(pool.map(lambda _: gate.send(body), range(count)))
    assert [reply.status for reply in replies] == [status] * count
    eventually(lambda: is_idle(gate), "all is given back")


def is_idle(gate):
    """Only the request that asks is there."""
    now = {name: value for (name, _), value in gate.metrics.items()}
    return (now["seriesgate_inflight_requests"] == 1 and now["seriesgate_inflight_bytes"] < 1000 and
            now["seriesgate_upstream_connections"] == 0)


# --- senders

@pytest.mark.parametrize("pieces, every", [(50, 0.01), (1, 0.02)], ids=["fast", "slowly"])
@pytest.mark.parametrize("first, piece", [
    (head()[:-2] + b"X-Long: ", b"x"),
    (head()[:-2], b"a:b\r\n"),
    (post(b"x" * 1_000_000)[:-1_000_000], b"x"),
    (CHUNKED, b"1\r\nx\r\n"),
    (CHUNKED + b"1;x=", b"x"),
    (CHUNKED + b"1\r\nx\r\n0\r\nX-Trailer: ", b"x"),
], ids=["a header's line", "a header's lines", "a body", "chunks", "a chunk's extension", "a trailer"])
def test_a_request_that_never_ends_is_ended(hasty, first, piece, pieces, every):
    with within(hasty, memory_mib=16):
        sent = send_for_ever(hasty.address, SENDERS, first, piece * pieces, seconds=PATIENCE, every=every)
    assert [each for each in sent if each.seconds is None] == []
    for each in sent:
        assert each.answer.split(b" ")[1] in (b"503", b"431", b"400"), each.answer[:80]
    assert hasty.send(GOOD).status == 204


@pytest.mark.parametrize("senders, piece, every", [(1, b"x" * MIB, 0), (4, b"x", 0.02)], ids=["fast", "slowly"])
def test_a_refused_sender_that_goes_on_is_not_listened_to_for_ever(hasty, senders, piece, every):
    refused = head(headers=[*recorded.HEADERS, ("Content-Length", 1 << 40)])
    with within(hasty, memory_mib=16):
        sent = send_for_ever(hasty.address, senders, refused, piece, seconds=PATIENCE, every=every)
    assert [each for each in sent if each.seconds is None] == []
    for each in sent:
        assert each.answer.startswith(b"HTTP/1.1 400 ")
        assert each.bytes < 96 * MIB  # 64 MiB, and what the kernel holds
    eventually(lambda: hasty.metric("seriesgate_connections") == 1, "only this test's own connection is open")


# --- the drain

@pytest.mark.parametrize("first, piece", [
    (head()[:-2] + b"X-Long: ", b"x"),
    (post(b"x" * 100_000)[:-100_000], b"x"),
    (CHUNKED, b"1\r\nx\r\n"),
    (head("GET", "/health")[:-2] + b"X-Long: ", b"x"),
], ids=["a header", "a body", "chunks", "a question at the front desk"])
def test_a_sender_that_dribbles_does_not_hold_up_the_end(gate, first, piece):  # readTimeout and drainTimeout are 30 s
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send_for_ever, gate.address, 5, first, piece, 25, 0.02)
        eventually(lambda: gate.metric("seriesgate_inflight_requests") == 6, "all are being read")
        signalled = time.monotonic()
        gate.signal()
        assert gate.wait() == 0
        assert time.monotonic() - signalled < 6
        for each in sending.result():
            assert each.answer.startswith(b"HTTP/1.1 503 ") and b"shutting down" in each.answer, each.answer
            assert b"Connection: close" in each.answer
    assert time.monotonic() - began < 7, "it has not waited for them"


def test_what_is_forwarded_is_finished_while_a_dribbler_is_told_to_go(gate, upstream):
    held = threading.Event()
    upstream.answers.append(Answer(200, [], b"stored", hold=held))
    with gate.raw() as writer, ThreadPoolExecutor(1) as pool:
        writer.send(post(GOOD))
        eventually(lambda: upstream.requests, "the request is upstream")
        sending = pool.submit(send_for_ever, gate.address, 3, head()[:-2] + b"X-Long: ", b"x", 25, 0.02)
        eventually(lambda: gate.metric("seriesgate_inflight_requests") == 5, "all are being worked on")
        gate.signal()
        for each in sending.result():
            assert each.answer.startswith(b"HTTP/1.1 503 ")
        assert gate.running
        held.set()
        assert writer.reply().body == b"stored"
    assert gate.wait() == 0


def test_a_sender_that_does_not_read_its_answer_does_not_hold_up_the_end(gate, upstream):
    upstream.default = Answer(400, [], b"x" * 250_000)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(gate.address)
        connection.sendall(post(GOOD) * 40)
        seen = []

        def stuck():
            seen.append(len(upstream.requests))
            return len(seen) > 20 and seen[-1] == seen[-20] and seen[-1] > 0
        eventually(stuck, "the gate waits for the sender to read", every=0.05)
        signalled = time.monotonic()
        gate.signal()
        assert gate.wait() == 0
        assert time.monotonic() - signalled < 6


# --- the upstream

def for_ever(piece, every, first=b""):
    def script(upstream, connection):
        connection.sendall(first)
        while upstream.again(every):
            connection.sendall(piece)
    return script


HEADER = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {
    "silence": (b"", b"", 0.1),
    "a header, byte by byte": (HEADER + b"X-Long: ", b"x", 0.01),
    "a header, slowly": (HEADER + b"X-Long: ", b"x", 0.05),
    "a body, byte by byte": (HEADER + b"Content-Length: 1000000\r\n\r\n", b"x", 0.01),
    "a body without length": (HEADER + b"\r\n", b"x", 0.01),
    "a body in chunks": (HEADER + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.01),
    "a chunk's extension": (HEADER + b"Transfer-Encoding: chunked\r\n\r\n1;x=", b"x", 0.01),
    "a trailer": (HEADER + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Long: ", b"x", 0.01),
    "interim answers, slowly": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.1),
    "an interim answer's header": (b"HTTP/1.1 103 Early Hints\r\nLink: ", b"x", 0.01),
}


@pytest.mark.parametrize("first, piece, every", ENDLESS.values(), ids=ENDLESS)
def test_an_answer_that_never_ends_is_504_in_time(start_gate, first, piece, every):
    with HostileUpstream(for_ever(piece, every, first)) as upstream:
        gate = start_gate(config=f"upstream: {{url: '{upstream.url}', timeout: 1s}}\n")
        with within(gate, memory_mib=32, seconds=5):
            assert_all_are_told(gate, 504)


STORMS = {
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "interim answers with headers": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 1000),
    "a switch of protocols": (b"", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    "a header's line": (HEADER + b"X-Long: ", b"x" * 65536),
    "a header's lines": (HEADER, b"a:b\r\n" * 8192),
    "a chunk's extension": (HEADER + b"Transfer-Encoding: chunked\r\n\r\n1;x=", b"x" * 65536),
    "a trailer": (HEADER + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Long: ", b"x" * 65536),
    "trailers": (HEADER + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a:b\r\n" * 8192),
}


@pytest.mark.parametrize("first, piece", STORMS.values(), ids=STORMS)
def test_an_answer_without_measure_is_502_at_once(start_gate, first, piece):
    with HostileUpstream(for_ever(piece, 0, first)) as upstream:
        gate = start_gate(config=f"upstream: {{url: '{upstream.url}', timeout: 10s}}\n")
        with within(gate, memory_mib=32, cpu=1, seconds=5):
            assert_all_are_told(gate, 502)


def test_a_few_interim_answers_are_fine(gate, upstream):
    upstream.default.before = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 16
    for _ in range(3):
        assert gate.send(GOOD).status == 204


def test_an_upstream_that_stops_reading_is_504_in_time(start_gate):
    body = wire.pack(b"".join(wire.sampled("up", job=f"{at:x}" * 9) for at in range(40_000)))
    with HostileUpstream(for_ever(b"", 0.1), receive_buffer=4096) as upstream:
        gate = start_gate(config=f"upstream: {{url: '{upstream.url}', timeout: 1s}}\n")
        assert_all_are_told(gate, 504, body, count=4)


# --- senders that are slow or silent: a deadline for each request

def drip(connection, data, every, seconds):
    """Sends one byte at a time until the peer closes or `seconds` are over."""
    deadline = time.monotonic() + seconds
    for at in range(len(data)):
        if time.monotonic() > deadline:
            return
        try:
            connection.socket.sendall(data[at:at + 1])
        except OSError:
            return
        connection.socket.settimeout(every)
        try:
            if connection.socket.recv(1, 0x02):  # 0x02: MSG_PEEK
                return
        except TimeoutError:
            continue
        finally:
            connection.socket.settimeout(20)


def assert_timed_out(gate, upstream, connection, started):
    reply = connection.reply()
    assert reply.status == 503  # and not 408: a Prometheus drops what is answered 4xx
    assert "server.readTimeout" in reply.first_line
    assert connection.closed_within(5)
    assert time.monotonic() - started == pytest.approx(1, abs=0.02)
    assert upstream.requests == []
    assert gate.current() == 0
    assert gate.stats["requests"]["rejected"] == 0  # 4xx only
    assert gate.send(GOOD).status == 204


@pytest.mark.parametrize("half", [post(GOOD)[:-10], head()[:20], CHUNKED + b"5\r\nab"], ids=["body", "head", "chunk"])
def test_half_a_request_and_then_silence_is_503(hasty, upstream, half):
    with hasty.raw() as connection:
        started = time.monotonic()
        connection.send(half)
        assert_timed_out(hasty, upstream, connection, started)


@pytest.mark.parametrize("start", [b"", post(GOOD)[:-40]], ids=["from the first byte", "from inside the body"])
def test_one_byte_at_a_time_does_not_buy_time(hasty, upstream, start):
    with hasty.raw() as connection:
        started = time.monotonic()
        connection.send(start)
        drip(connection, post(GOOD)[len(start):], every=0.25, seconds=10)
        assert_timed_out(hasty, upstream, connection, started)


def test_the_second_request_of_a_connection_has_its_own_deadline(hasty, upstream):
    with hasty.raw() as connection:
        for _ in range(3):
            connection.send(post(GOOD))
            assert connection.reply().status == 204
            assert not connection.closed_within(0.6)
        upstream.clear()
        connection.send(post(GOOD)[:-10])
        assert connection.reply().status == 503


def test_an_idle_connection_is_closed_without_a_word(hasty):
    with hasty.raw() as silent, hasty.raw() as after_a_request:
        started = time.monotonic()
        after_a_request.send(head("GET", "/health"))
        assert after_a_request.reply("GET").status == 200
        for connection in (silent, after_a_request):
            connection.socket.settimeout(15)
            assert connection.socket.recv(1) == b""
        assert time.monotonic() - started == pytest.approx(2, abs=0.02)


def test_connections_that_end_inside_a_request_leave_nothing_behind(gate, upstream):
    whole = post(GOOD)
    for size in range(0, len(whole), 7):
        with gate.raw() as connection:
            connection.send(whole[:size])
    assert gate.send(GOOD).status == 204
    assert upstream.bodies == [GOOD]


def test_a_sender_that_has_sent_all_and_closes_its_side_still_gets_its_answer(gate, upstream):
    with gate.raw() as connection:
        connection.send(post(GOOD))
        connection.socket.shutdown(socket.SHUT_WR)
        assert connection.reply().status == 204
    assert upstream.bodies == [GOOD]


def test_a_sender_that_leaves_before_the_answer_does_not_disturb(gate, upstream):
    with holding(upstream), gate.raw() as connection:
        connection.send(post(GOOD))
        eventually(lambda: upstream.requests, "the request is upstream")
    assert gate.send(GOOD).status == 204


def test_announced_bytes_that_never_come_take_no_room_from_others(limited):
    gate = limited("server: {maxInflightBytes: 2MiB, maxRequestBytes: 1MiB, maxDecodedBytes: 1MiB}\n")
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            silent = stack.enter_context(gate.raw())
            silent.send(head(headers=[*recorded.HEADERS, ("Content-Length", 1 << 20)]) + b"x")
        for _ in range(8):
            assert gate.send(GOOD).status == 204


# --- what is in flight when the gate is told to end

def test_connections_without_a_request_do_not_hold_up_the_end(gate):
    with gate.raw(), gate.client() as used:
        assert used.write(GOOD).status == 204
        gate.signal()
        started = time.monotonic()
        assert gate.wait() == 0
        assert time.monotonic() - started < 1.1, "a second for a request that is on its way: drainTimeout is 30 s"


def test_a_sender_in_the_middle_of_its_body_may_finish_it(gate, upstream):
    with gate.raw() as connection:
        connection.send(head(headers=[*recorded.HEADERS, ("Content-Length", len(GOOD)), ("Expect", "100-continue")]))
        connection.continues()  # so it has begun to read
        connection.send(GOOD[:-10])
        gate.signal()
        eventually(lambda: refuses(gate.address), "new connections are refused")
        connection.send(GOOD[-10:])
        assert connection.reply().status == 204
        assert upstream.bodies == [GOOD]
    assert gate.wait() == 0


def test_the_drain_has_a_bound(limited, upstream):
    gate = limited("server: {drainTimeout: 1s}\n")
    with holding(upstream), gate.raw() as connection:
        connection.send(post(GOOD))
        eventually(lambda: upstream.requests, "the request is upstream")
        started = time.monotonic()
        gate.signal()
        assert gate.wait() == 0
        assert time.monotonic() - started == pytest.approx(1, abs=0.01)


def test_a_gate_that_never_had_a_request_ends_at_once(gate):
    started = time.monotonic()
    gate.stop()
    assert time.monotonic() - started < 0.1
    assert gate.errors == []
