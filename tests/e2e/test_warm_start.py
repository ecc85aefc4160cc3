"""A warm start from a real Prometheus and a real VictoriaMetrics, and while senders write."""

import math

import pytest

import recorded
import traffic
import wire
import wire_v2
from busy import Busy
from query_store import OLD, QueryStore
from traffic import numbered
from waiting import eventually
from world import threading, time

pytestmark = pytest.mark.timeout(240)

ODD = [{"__name__": "ünï.cöde", "a.b": "x"}, {"__name__": "odd", "a": 'q"\\\n\t\x7f', "z": "ß"}]


def with_numbers(messages):
    """The series that are more than NaN: VictoriaMetrics keeps none."""
    return {tuple(sorted((label.name, label.value) for label in series.labels))
            for each in messages for series in each.timeseries
            if any(not math.isnan(sample.value) for sample in series.samples)}


def packed(messages):
    return [wire.pack(each.SerializeToString()) for each in messages]


@pytest.mark.slow
def test_after_a_warm_start_beside_an_explosion_no_old_series_is_refused(real_store, start_gate, upstream, pb):
    now = int(time.time() * 1000)
    for minutes in (70, 65, 20, 1):  # in the quarter of an hour before the lookback, and in the last hour
        at = now - minutes * 60_000
        real_store.write(*packed(recorded.moved_to(pb.WriteRequest, recorded.bodies(), at)), traffic.body(ODD, at))
    real_store.write(*(traffic.body(numbered(5_000, start, name="boom"), now - 50_000) for start in range(0, 30_000, 5_000)))
    # Prometheus 2.53 drops names that are not ASCII.
    odd = [labels for labels in ODD if real_store.ask(f'last_over_time({{__name__="{labels["__name__"]}"}}[5m])')]
    assert odd
    sent = recorded.moved_to(pb.WriteRequest, recorded.bodies(), now)
    old = with_numbers(sent) | {traffic.identity(labels) for labels in odd}

    maximum = len(old) + 1_000
    gate = start_gate(f"--upstream.url={upstream.url}",
                      config=f"maxHourlySeries: {maximum}\nwarmStart: {{url: '{real_store.url}'}}\n")
    eventually(lambda: gate.stats["warmStart"]["state"] != "reading", "the warm start ends", 100)
    warm = gate.stats["warmStart"]
    assert warm["state"] == "complete", gate.log
    assert len(old) <= warm["series"] <= recorded.SERIES + len(odd)
    assert warm["series"] + warm["youngerSeries"] == gate.current("hourly") == maximum

    for body in (*packed(sent), traffic.body(odd)):
        assert gate.send(body, recorded.HEADERS).status == 204
    assert old <= set(traffic.arrived(upstream.requests))
    assert gate.current("hourly") <= maximum
    # The same series in version 2.
    some = [{name.decode(): value.decode() for name, value in labels} for labels in sorted(old)[::300]]
    upstream.clear()
    assert wire_v2.write(gate, wire.pack(wire_v2.request(*some))).status == 204
    assert set(wire_v2.series_of(upstream.requests[0].raw)) == set(map(traffic.identity, some))
    assert gate.current("hourly") <= maximum
    # The explosion has no more than the room that was left.
    upstream.clear()
    for start in range(0, 30_000, 5_000):
        gate.send(traffic.body(numbered(5_000, start, name="boom")))
    assert len(set(traffic.arrived(upstream.requests))) <= 1_000 + recorded.leaks_allowed(30_000)


def test_what_is_sent_while_it_reads_passes_and_counts_nothing(start_gate, upstream):
    with QueryStore() as store:
        old = [each for name in range(300) for each in numbered(10, name=f"old{name}")]
        store.add(old, OLD)
        store.respond_after = 0.2
        enough, respond = threading.Event(), store.handler
        store.handler = lambda request: enough.wait(60) and respond(request)
        gate = start_gate(f"--upstream.url={upstream.url}",
                          config=f"maxHourlySeries: 3000\nwarmStart: {{url: '{store.root}'}}\n")
        early = []  # (whether it reads still, what was answered)

        def send(client, number):
            for body in (traffic.body(old[number::40]), traffic.body(numbered(50, name=f"new{number}"))):
                reply = client.write(body)
                early.append((gate.stats["warmStart"]["state"] == "reading", reply.status, reply.refused))

        with Busy(gate.address, 4, send):
            eventually(lambda: sum(reads for reads, *_ in early) > 20, "enough is sent while it reads", 60)
            enough.set()
            eventually(lambda: gate.stats["warmStart"]["state"] == "complete", "the warm start ends", 60)
    reading = [(status, refused) for reads, status, refused in early if reads]
    assert len(reading) > 20 and set(reading) == {(204, None)}
    assert gate.current() == 3000
    assert gate.send(traffic.body(old)).refused is None
    assert gate.send(traffic.body(numbered(50, name="new0"))).refused == (50, 50)
