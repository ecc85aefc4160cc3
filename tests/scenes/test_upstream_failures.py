"""An upstream that is away, slow or rude: the sender keeps its data and retries, and a retry changes nothing."""

import os

import pytest

import wire
from upstream import Answer, Upstream, distinct_series, read_request, unused_port
from waiting import eventually
from world import socket, threading, time

BODY = wire.pack(wire.sampled("up", job="a"))


def one_worker(upstream_url, **upstream_keys):
    """A configuration with one worker, so that requests one after the other share its pooled connection."""
    keys = "".join(f", {name}: {value}" for name, value in upstream_keys.items())
    return f"upstream: {{url: '{upstream_url}'{keys}}}\nserver: {{threads: 1}}\n"


def readable(reply):
    line = reply.first_line
    return len(line) > 10 and line.isprintable() and line.isascii()


# --- away

def test_an_upstream_that_cannot_be_reached_is_502(start_gate):
    holder, port = unused_port()
    with holder:
        gate = start_gate(f"--upstream.url=http://127.0.0.1:{port}/w")
        reply = gate.send(BODY)
        assert reply.status == 502
        assert readable(reply)
        eventually(lambda: gate.stats["requests"]["byStatus"] == {"502": 1}, "it is counted")
        assert (gate.stats["requests"]["rejected"], gate.stats["requests"]["upstreamErrors"]) == (0, 1)


def test_an_upstream_that_was_down_is_used_again_when_it_is_back(start_gate):
    first = Upstream()
    gate = start_gate(config=one_worker(first.url))
    with gate.client() as client:
        assert client.write(BODY).status == 204
        first.stop()
        assert client.write(BODY).status == 502
        assert client.write(BODY).status == 502
        second = Upstream(port=first.port)
        try:
            assert client.write(BODY).status == 204
            assert second.bodies == [BODY]
        finally:
            second.stop()


def test_a_name_that_does_not_resolve_is_502_and_does_not_stop_the_gate(start_gate):
    gate = start_gate("--upstream.url=http://no-such-host.invalid/w")
    assert gate.send(BODY).status == 502
    assert gate.get("/health").status == 200


# --- slow

def test_an_upstream_that_is_too_slow_is_504(start_gate, upstream):
    gate = start_gate(config=one_worker(upstream.url, timeout="3s"))
    held = threading.Event()
    upstream.answers.append(Answer(hold=held))
    with gate.client() as client:
        reply = client.write(BODY)
        assert reply.status == 504
        assert readable(reply)
        assert gate.stats["requests"]["upstreamErrors"] == 1
        # The late answer must not be taken for the answer to the next request.
        upstream.default = Answer(200, [], b"second")
        reply = client.write(BODY)
        held.set()
        assert (reply.status, reply.body) == (200, b"second")
    assert len({request.connection for request in upstream.requests}) == 2


def test_an_upstream_that_stops_inside_its_answer_is_504(start_gate):
    silent = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
    release = threading.Event()

    def serve():
        connection, _ = listener.accept()
        connection.recv(65536)
        connection.sendall(silent)
        release.wait(30)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        gate = start_gate(config=one_worker(f"http://127.0.0.1:{listener.getsockname()[1]}/w", timeout="300ms"))
        thread = threading.Thread(target=serve)
        thread.start()
        assert gate.send(BODY).status == 504
        release.set()
        thread.join()


def test_an_upstream_that_accepts_no_connection_costs_no_more_than_the_timeout(start_gate, stage):
    stage.ask("black_hole", "127.0.0.1:9009")
    gate = start_gate(config=one_worker("http://127.0.0.1:9009/w", timeout="500ms"))
    started = time.monotonic()
    assert gate.send(BODY).status == 502
    assert time.monotonic() - started == pytest.approx(0.5, abs=0.02)


# --- rude

@pytest.mark.parametrize("cut", [0, 5, 30, 60])
def test_an_upstream_that_closes_inside_its_answer_is_502(start_gate, upstream, cut):
    upstream.default = Answer(200, [("X-Filler", "f" * 20)], b"b" * 100, cut=cut)
    gate = start_gate(config=one_worker(upstream.url))
    reply = gate.send(BODY)
    assert reply.status == 502
    assert readable(reply)
    assert len(upstream.requests) == 1, "a fresh connection that breaks is not tried again"


def test_an_upstream_that_does_not_speak_http_is_502(start_gate, upstream):
    upstream.default.before = b"220 mail.example ESMTP\r\n"
    gate = start_gate(config=one_worker(upstream.url))
    assert gate.send(BODY).status == 502
    assert gate.get("/health").status == 200


@pytest.mark.parametrize("status", ["000", "099", "600", "999"])
def test_an_upstream_with_a_status_that_does_not_exist_is_502(start_gate, upstream, status):
    upstream.default.before = f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode()
    gate = start_gate(config=one_worker(upstream.url))
    assert gate.send(BODY).status == 502


def test_an_upstream_with_endless_headers_is_502(start_gate, upstream):
    upstream.default = Answer(200, [("X-Long", "x" * 1000)] * 1000)
    gate = start_gate(config=one_worker(upstream.url))
    assert gate.send(BODY).status == 502
    upstream.default = Answer(204)
    assert gate.send(BODY).status == 204


def test_an_answer_before_the_whole_body_was_read_passes(start_gate):
    """As nginx does with a body over its bound: it answers after the headers, and reads on for a while."""
    body = wire.pack(b"".join(wire.sampled("up", job=f"{i}{hash((i, 1))}") for i in range(20_000)))
    assert len(body) > 400_000, "the network does not hold all of it"

    def serve():
        connection, _ = listener.accept()
        with connection:
            while b"\r\n\r\n" not in connection.recv(65536):
                pass
            connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
            while connection.recv(65536):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        gate = start_gate(config=one_worker(f"http://127.0.0.1:{listener.getsockname()[1]}/w"))
        thread = threading.Thread(target=serve)
        thread.start()
        reply = gate.send(body)
        assert (reply.status, reply.body) == (413, b"big")
        thread.join(10)
        assert not thread.is_alive()


# --- the pool

def test_requests_in_turn_share_one_upstream_connection(start_gate, upstream):
    gate = start_gate(config=one_worker(upstream.url))
    with gate.client() as client:
        for _ in range(5):
            assert client.write(BODY).status == 204
    assert [request.connection for request in upstream.requests] == [1] * 5


def test_a_pooled_connection_that_the_upstream_closed_goes_unnoticed(start_gate, upstream):
    gate = start_gate(config=one_worker(upstream.url))
    upstream.default.close_after = True
    with gate.client() as client:
        for _ in range(5):
            assert client.write(BODY).status == 204
            eventually(lambda: upstream.connections_open == 0, "the upstream has closed")
    assert [request.connection for request in upstream.requests] == [1, 2, 3, 4, 5]


def test_a_pooled_connection_that_breaks_amid_a_request_is_replaced_once(start_gate):
    def serve():
        with listener.accept()[0] as connection:
            stream = connection.makefile("rb")
            read_request(stream, connection, 1)
            connection.sendall(b"HTTP/1.1 204 x\r\n\r\n")
            connection.recv(1, socket.MSG_PEEK)  # the next one has begun to come
            stream.close()
        with listener.accept()[0] as connection:
            arrived.append(read_request(connection.makefile("rb"), connection, 2).body)
            connection.sendall(b"HTTP/1.1 204 x\r\n\r\n")

    arrived = []
    long = wire.pack(b"".join(wire.sampled("m", a="x" * 1000, n=str(n)) + wire.metadata(f"m{n}", help_text=os.urandom(500).hex())
                              for n in range(8000)))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        gate = start_gate(config=one_worker(f"http://127.0.0.1:{listener.getsockname()[1]}/w"))
        with gate.client() as client:
            assert client.write(BODY).status == 204
            assert client.write(long).status == 204
        thread.join()
    assert arrived == [long]
    assert gate.stats["requests"]["upstreamErrors"] == 0


def test_a_store_that_closes_over_a_request_may_have_stored_it_so_the_sender_decides(start_gate, upstream):
    gate = start_gate(config=one_worker(upstream.url))
    with gate.client() as client:
        assert client.write(BODY).status == 204
        upstream.answers.append(Answer(cut=0))  # reads the request on the pooled connection, then closes
        reply = client.write(BODY)
        assert reply.status == 502
        assert reply.first_line.endswith(" broke off: before its answer, it closed the connection")
    assert [request.connection for request in upstream.requests] == [1, 1]


def test_a_pooled_connection_that_breaks_inside_the_answer_is_502(start_gate, upstream):
    gate = start_gate(config=one_worker(upstream.url))
    with gate.client() as client:
        assert client.write(BODY).status == 204
        upstream.answers.append(Answer(200, [], b"body", cut=20))
        assert client.write(BODY).status == 502
        assert client.write(BODY).status == 204
    assert len(upstream.requests) == 3


def test_an_answer_that_nobody_asked_for_is_not_taken_for_the_next_one(start_gate, upstream):
    """Some servers say 408 on an idle connection before they close it: a sender would drop its data for that."""
    gate = start_gate(config=one_worker(upstream.url))
    unasked = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    answered = threading.Event()
    upstream.answers.append(Answer(204, parting=(answered, unasked)))
    with gate.client() as client:
        assert client.write(BODY).status == 204
        answered.set()
        eventually(lambda: upstream.connections_open == 0, "the upstream has closed")
        assert client.write(BODY).status == 204


def test_an_upstream_that_says_close_is_not_asked_again_on_that_connection(start_gate, upstream):
    upstream.default = Answer(200, [("Connection", "close")], b"bye", close_after=True)
    gate = start_gate(config=one_worker(upstream.url))
    with gate.client() as client:
        for _ in range(3):
            reply = client.write(BODY)
            assert (reply.status, reply.body) == (200, b"bye")
    assert [request.connection for request in upstream.requests] == [1, 2, 3]


# --- retries of the sender

@pytest.mark.parametrize("failure", [Answer(500), Answer(503, [("Retry-After", "1")]), Answer(429), Answer(cut=0)])
def test_a_retry_is_decided_as_before_and_counts_no_series_twice(start_gate, upstream, failure):
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=2", "--maxDailySeries=3")
    body = wire.pack(b"".join(wire.sampled("up", job=job) for job in "abcd"))
    upstream.answers.extend([failure, failure])
    replies = [gate.send(body) for _ in range(3)]
    assert replies[2].status == 204
    assert all(reply.status >= 429 for reply in replies[:2])
    assert {reply.refused for reply in replies if reply.status != 502} == {(2, 2)}
    assert len({request.raw for request in upstream.requests}) == 1
    assert len(distinct_series(upstream.bodies)) == 2
    windows = gate.stats["windows"]
    assert [windows[name]["currentSeries"] for name in ("hourly", "daily")] == [2, 2]
    assert windows["hourly"]["refusedSeries"] == 2


def test_a_retry_after_502_is_decided_as_before(start_gate):
    holder, port = unused_port()
    gate = start_gate(f"--upstream.url=http://127.0.0.1:{port}/w", "--maxHourlySeries=1")
    body = wire.pack(wire.sampled("up", job="a") + wire.sampled("up", job="b"))
    assert [gate.send(body).status for _ in range(2)] == [502, 502]
    holder.close()
    upstream = Upstream(port=port)
    try:
        assert gate.send(body).refused == (1, 1)
        assert upstream.requests[0].raw == wire.sampled("up", job="a")
        assert gate.current() == 1
    finally:
        upstream.stop()
