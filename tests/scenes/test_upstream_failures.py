"""An upstream that is away, slow or rude: the sender keeps its data and retries, and a retry changes nothing."""

import pytest

import wire
from upstream import Answer, distinct_series
from waiting import eventually
from world import threading, time

BODY = wire.pack(wire.sampled("up", job="a"))


@pytest.fixture
def gate(limited):
    """With one worker, so that requests one after the other share its pooled connection."""
    return limited("upstream: {timeout: 3s}\nserver: {threads: 1}\n")


def test_a_name_that_does_not_resolve_is_502_and_does_not_stop_the_gate(start_gate):
    gate = start_gate("--upstream.url=http://no-such-host.invalid/w")
    assert gate.send(BODY).status == 502
    assert gate.get("/health").status == 200


def test_a_name_that_nobody_tells_of_is_waited_for_as_long_as_a_request_may_take(start_gate, stage):
    stage.ask("silent_name", "store.test")
    gate = start_gate(config="server: {threads: 1}\nupstream: {url: http://store.test/w, timeout: 3s}\n")
    began = time.monotonic()
    assert gate.send(BODY).status == 502
    assert time.monotonic() - began == pytest.approx(3, abs=0.1)


def test_an_upstream_that_is_too_slow_is_504(gate, upstream):
    held = threading.Event()
    upstream.answers.append(Answer(hold=held))
    with gate.client() as client:
        reply = client.write(BODY)
        assert reply.status == 504
        assert len(reply.first_line) > 10 and reply.first_line.isprintable() and reply.first_line.isascii()
        assert gate.stats["requests"]["upstreamErrors"] == 1
        # The late answer must not be taken for the answer to the next request.
        upstream.default = Answer(200, [], b"second")
        reply = client.write(BODY)
        held.set()
        assert (reply.status, reply.body) == (200, b"second")
    assert len({request.connection for request in upstream.requests}) == 2


def test_a_pooled_connection_that_the_upstream_closed_goes_unnoticed(gate, upstream):
    upstream.default.close_after = True
    with gate.client() as client:
        for _ in range(5):
            assert client.write(BODY).status == 204
            eventually(lambda: upstream.connections_open == 0, "the upstream has closed")
    assert [request.connection for request in upstream.requests] == [1, 2, 3, 4, 5]


def test_an_answer_that_nobody_asked_for_is_not_taken_for_the_next_one(gate, upstream):
    """Some servers say 408 on an idle connection before they close it: a sender would drop its data for that."""
    unasked = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    answered = threading.Event()
    upstream.answers.append(Answer(204, parting=(answered, unasked)))
    with gate.client() as client:
        assert client.write(BODY).status == 204
        answered.set()
        eventually(lambda: upstream.connections_open == 0, "the upstream has closed")
        assert client.write(BODY).status == 204


def test_an_upstream_that_says_close_is_not_asked_again_on_that_connection(gate, upstream):
    upstream.default = Answer(200, [("Connection", "close")], b"bye", close_after=True)
    with gate.client() as client:
        for _ in range(3):
            reply = client.write(BODY)
            assert (reply.status, reply.body) == (200, b"bye")
    assert [request.connection for request in upstream.requests] == [1, 2, 3]


@pytest.mark.parametrize("failure", [Answer(500), Answer(503, [("Retry-After", "1")]), Answer(429), Answer(cut=0)])
def test_a_retry_is_decided_as_before_and_counts_no_series_twice(limited, upstream, failure):
    gate = limited("maxHourlySeries: 2\nmaxDailySeries: 3\n")
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
