"""Several equal backends of one store: who is asked, what happens when one of them dies, hangs, vanishes or comes back. The
invariant in all: what was answered with success is in exactly one store's log, exactly once, as it was sent."""

from collections import Counter
from contextlib import closing, contextmanager

import pytest

import wire
from backends import backends, body, stores  # noqa: F401 (a fixture)
from faked_names import FakedNames
from upstream import Answer, Upstream, distinct_series, holding
from waiting import eventually
from world import threading, time


@pytest.fixture
def black_hole(stage):
    """A URL whose port answers no attempt to connect at all."""
    stage.ask("black_hole", "127.0.0.1:9009")
    return "http://127.0.0.1:9009/w"


@contextmanager
def in_threads(call, count):
    """So many calls side by side; at the end of the block they are waited for."""
    threads = [threading.Thread(target=call) for _ in range(count)]
    for each in threads:
        each.start()
    yield
    for each in threads:
        each.join()


def test_a_backend_that_says_only_503_is_set_aside(start_gate, stores):
    gate = start_gate(config=backends(*stores))
    stores[0].default = Answer(503)
    statuses = Counter(gate.send(body()).status for _ in range(60))
    assert 5 <= statuses[503] <= 7  # five in a row, and a trial after a second, and after two more
    stores[0].default = Answer(204)
    eventually(lambda: gate.send(body()).status == 204 and len(stores[0].requests) > 10, "it is asked again", 30)


def test_a_backend_that_refuses_costs_nobody_an_answer(start_gate, stores):
    stores[1].stop()
    gate = start_gate(config=backends(*stores))
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    assert [gate.send(body()).status for _ in range(20)] == [204] * 20
    assert len(stores[0].requests) + len(stores[2].requests) == 20
    [line] = gate.said("an address of the store is out")
    assert (line["upstream"], line["reason"]) == (stores[1].host, "connection_refused")
    assert gate.metric("seriesgate_upstream_door_up", store=stores[0].host, door=stores[1].host) == 0
    assert gate.metric("seriesgate_upstream_door_up", store=stores[0].host, door=stores[2].host) == 1
    assert gate.stats["requests"]["upstreamErrors"] == 0


def test_a_backend_that_is_out_again_at_once_has_that_as_the_last_word_in_the_log(start_gate, stores):
    gate = start_gate(config=backends(*stores))
    stores[1].stop()
    eventually(lambda: gate.send(body()).status == 204 and gate.said("an address of the store is out"), "it is out")
    back = Upstream(port=stores[1].port)
    eventually(lambda: gate.send(body()).status == 204 and gate.said("an address of the store is back"), "it is back", 9)
    back.stop()
    eventually(lambda: gate.send(body()).status == 204 and len(gate.said("an address of the store is out")) == 2,
               "it is out again", 30)
    assert gate.said("an address of the store is back")[-1]["ts"] < gate.said("an address of the store is out")[-1]["ts"]


def test_a_backend_that_swallows_connections_delays_few_requests(start_gate, stores, black_hole):
    gate = start_gate(config=backends(black_hole, *stores[:2]))
    times = []
    for _ in range(12):
        began = time.monotonic()
        assert gate.send(body()).status == 204
        times.append(time.monotonic() - began)
    assert sum(each > 0.01 for each in times) == 1
    assert max(times) == pytest.approx(2, abs=0.02)
    assert gate.said("an address of the store is out", reason="connect_timeout")


def test_a_backend_that_hangs_stalls_no_other_and_not_the_admin(start_gate, stores):
    gate = start_gate(config=backends(*stores, timeout="6s", maxConnections=12))
    statuses = Counter()

    def send():
        statuses[gate.send(body()).status] += 1

    with holding(stores[0]), in_threads(send, 6):
        eventually(lambda: len(stores[0].requests) >= 1 and statuses[204] + len(stores[0].requests) == 6, "only they hang")
        for _ in range(30):
            assert gate.send(body()).status == 204
        assert gate.get("/health").status == 200
        assert gate.get("/metrics").status == 200
    assert statuses[204] + statuses[504] == 6
    assert statuses[504] == len(stores[0].requests) >= 1


def test_connections_are_bounded_and_who_cannot_wait_comes_again(start_gate, stores):
    gate = start_gate(config=backends(stores[0], timeout="8s", maxConnections=4))
    replies = []
    with holding(stores[0]), in_threads(lambda: replies.append(gate.send(body())), 12):
        eventually(lambda: gate.metric("seriesgate_upstream_waiting", store=stores[0].host) == 8, "eight wait")
        eventually(lambda: stores[0].connections_open == 4, "the others are there")
        eventually(lambda: gate.metric("seriesgate_upstream_connections") == 4, "the gate has heard that they are there")
    statuses = Counter(reply.status for reply in replies)
    assert statuses[504] + statuses[503] == 12
    assert statuses[503] >= 4
    busy = next(reply for reply in replies if reply.status == 503)
    assert busy.get("Retry-After") == "1"
    assert "is busy: all connections to it are in use" in busy.first_line
    assert gate.stats["requests"]["upstreamErrorsByReason"]["busy"] == statuses[503]
    assert gate.metric("seriesgate_upstream_waits_total", store=stores[0].host) >= 8
    assert gate.metric("seriesgate_upstream_request_duration_seconds_count") == statuses[504]


def test_a_wait_for_a_connection_is_no_slowness_of_the_store(start_gate, stores):
    gate = start_gate(config=f"server: {{threads: 1}}\nupstream: {{url: '{stores[0].url}', maxConnections: 1}}\n")
    first, replies = threading.Event(), []
    stores[0].answers.append(Answer(hold=first))  # the others are answered at once
    with in_threads(lambda: replies.append(gate.send(body())), 5):
        eventually(lambda: gate.metric("seriesgate_upstream_waiting", store=stores[0].host) == 4, "four wait")
        time.sleep(2)
        first.set()
    assert [reply.status for reply in replies] == [204] * 5
    assert gate.metric("seriesgate_upstream_request_duration_seconds_count") == 5
    assert gate.metric("seriesgate_upstream_request_duration_seconds_sum") == pytest.approx(2, abs=0.5)


def test_addresses_of_a_name_that_change_move_the_requests(start_gate, tmp_path):
    names = FakedNames(tmp_path)
    names.set(store="127.0.0.1")
    with closing(Upstream()) as first, closing(Upstream(port=first.port, host="127.0.0.2")) as second:
        gate = start_gate(config=f"upstream: {{url: 'http://store:{first.port}/w'}}\n" + names.one_thread,
                          environment=names.environment)
        eventually(lambda: gate.get("/-/ready").status == 200, "its name resolves")
        assert gate.send(body()).status == 204
        assert first.connections_open == 1
        names.set(store="127.0.0.2")
        eventually(lambda: first.connections_open == 0, "the old address is left", 60)
        assert gate.send(body()).status == 204
        assert len(second.requests) == 1


# --- one that is away, slow or rude: the sender keeps its data and retries, and a retry changes nothing

BODY = wire.pack(wire.sampled("up", job="a"))


def test_a_name_that_nobody_tells_of_is_waited_for_as_long_as_a_request_may_take(start_gate, stage):
    stage.ask("silent_name", "store.test")
    gate = start_gate(config="server: {threads: 1}\nupstream: {url: http://store.test/w, timeout: 3s}\n")
    began = time.monotonic()
    assert gate.send(BODY).status == 502
    assert time.monotonic() - began == pytest.approx(3, abs=0.1)


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
