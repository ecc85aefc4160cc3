"""Senders that are slow or silent: a deadline for each request, a bound for all of them together."""

import contextlib

import pytest

import recorded
import wire
from client import head, post
from upstream import holding
from waiting import eventually
from world import ThreadPoolExecutor, socket, time

GOOD = wire.pack(wire.sampled("up", job="a"))


CHUNKED = head(headers=[*recorded.HEADERS, ("Transfer-Encoding", "chunked")])
SMALL = "server: {maxInflightBytes: 2MiB, maxRequestBytes: 1MiB, maxDecodedBytes: 1MiB}\n"


@pytest.fixture
def hasty(limited):
    """A gate that gives a request one second."""
    return limited("server: {readTimeout: 1s, idleTimeout: 2s}\n")


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
    gate = limited(SMALL)
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            silent = stack.enter_context(gate.raw())
            silent.send(head(headers=[*recorded.HEADERS, ("Content-Length", 1 << 20)]) + b"x")
        for _ in range(8):
            assert gate.send(GOOD).status == 204


def test_over_the_bytes_in_flight_is_503_with_retry_after(limited, upstream):
    gate = limited(SMALL)
    body = recorded.bodies()[0]  # 60 KiB, 570 KiB decoded
    replies, refused = [], []

    def write():
        reply = gate.send(body)
        (refused if reply.status == 503 else replies).append(reply)

    with ThreadPoolExecutor(64) as pool:
        with holding(upstream):
            for sent in range(1, 61):
                pool.submit(write)
                eventually(lambda: len(upstream.requests) + len(refused) >= sent,  # pylint: disable=cell-var-from-loop
                           "it has been answered or is upstream")
                if refused:
                    break
            assert gate.get("/health").status == 200
            assert gate.get("/-/ready").status == 200
    assert [reply.status for reply in replies] == [204] * len(upstream.requests)
    assert int(refused[0].get("Retry-After")) >= 1
    assert refused[0].first_line.isprintable() and len(refused[0].first_line) > 10
    assert gate.stats["samples"]["received"] == 2000 * len(replies)
    assert gate.send(body).status == 204
