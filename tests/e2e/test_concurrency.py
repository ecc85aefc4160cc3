"""Many senders at once: a limit is never exceeded by one, and no series is counted twice."""

import itertools
import random
import signal

import pytest

import recorded
import traffic
import wire
from busy import Busy
from recorded import SERIES, leaks_allowed
from traffic import body, histogram, identity, numbered, offer
from upstream import distinct_series
from waiting import eventually
from world import ThreadPoolExecutor, time

THREADS = 8


def replay_shuffled(gate, bodies, seed):
    """One sender: all bodies in an order of its own. What waits for longer than server.maxQueueDelay on a slow machine is sent
    again, as every sender does."""
    order = random.Random(seed).sample(bodies, len(bodies))
    replies = []
    with gate.client() as client:
        for body in order:
            while (reply := client.write(body)).status == 503 and reply.get("Retry-After"):
                time.sleep(0.1)
            replies.append(reply)
    return replies


def replay_from_all(gate, bodies):
    with ThreadPoolExecutor(THREADS) as pool:
        senders = [pool.submit(replay_shuffled, gate, bodies, seed) for seed in range(THREADS)]
        return [reply for sender in senders for reply in sender.result(200)]


def test_without_a_limit_senders_that_overlap_count_every_series_once(gate, upstream):
    bodies = recorded.bodies()
    replies = replay_from_all(gate, bodies)
    assert {reply.status for reply in replies} == {204}
    assert sorted(upstream.bodies) == sorted(bodies * THREADS)
    windows = gate.stats["windows"]
    assert [windows[name]["currentSeries"] for name in ("hourly", "daily")] == [SERIES, SERIES]


@pytest.mark.parametrize("limits", [{"maxHourlySeries": 10_000}, {"maxDailySeries": 10_000},
                                    {"maxHourlySeries": 10_000, "maxDailySeries": 10_001}])
def test_a_limit_holds_exactly_against_senders_that_overlap(start_gate, upstream, limits):
    gate = start_gate(f"--upstream.url={upstream.url}", *(f"--{name}={count}" for name, count in limits.items()))
    replies = replay_from_all(gate, recorded.bodies())
    assert {reply.status for reply in replies} == {204}
    stats = gate.stats
    assert stats["windows"]["hourly"]["currentSeries"] == stats["windows"]["daily"]["currentSeries"] == 10_000
    arrived = distinct_series(upstream.bodies)
    assert 10_000 <= len(arrived) <= 10_000 + leaks_allowed(SERIES - 10_000)
    accepted = recorded.sample_count(upstream.bodies)
    refused = sum(reply.refused[1] for reply in replies if reply.refused)
    assert accepted + refused == THREADS * recorded.SAMPLES == stats["samples"]["received"]
    assert (stats["samples"]["accepted"], stats["samples"]["refused"]) == (accepted, refused)


def test_senders_that_offer_the_same_new_series_at_once_agree(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=500")
    bodies = [wire.pack(b"".join(wire.sampled("m", at=str(i)) for i in range(start, start + 100)))
              for start in range(0, 1000, 50)]
    replay_from_all(gate, bodies)
    assert gate.current() == 500
    admitted = distinct_series(upstream.bodies)
    assert 500 <= len(admitted) <= 500 + leaks_allowed(550)
    upstream.clear()
    replay_from_all(gate, bodies)
    assert distinct_series(upstream.bodies) == admitted


# --- while limits are reloaded: SIGHUP and POST /-/reload

LIMIT = "limits: [{{name: {}, each: [{}], maxHourlySeries: {}, mode: {}}}]\n"


@pytest.mark.parametrize("by", ["signal", "request"])
def test_reloads_under_traffic_lose_nothing(limited, upstream, by):
    texts = ["maxHourlySeries: 400\n" + LIMIT.format("per-job", "job", 200, "enforce"),
             "maxDailySeries: 300\ntenants: {default: {maxHourlySeries: 250}}\n", "", "mode: observe\n"]
    gate = limited(texts[0])
    known = {job: numbered(100, job=job) for job in ("a", "b")}
    for series in known.values():
        assert offer(gate, upstream, series) == series
    upstream.clear()
    sent, failures = {job: 0 for job in known}, []

    def send(client, number):
        job = "ab"[number]
        reply = client.write(traffic.body(known[job]))
        sent[job] += 1
        if reply.status != 204 or reply.refused:
            failures.append(reply)

    with Busy(gate.address, 2, send):
        for at in itertools.count():
            if (at >= 5 and sum(sent.values()) >= 200) or failures:
                break
            if by == "request":
                assert gate.reload(texts[at % 4]).status == 200
            else:
                gate.config_file.write_text(texts[at % 4])
                gate.signal(signal.SIGHUP)
                eventually(lambda: gate.metric("seriesgate_config_reloads_total") == at + 1, "it is read")
    assert failures == []
    assert len(upstream.requests) == sum(sent.values()) >= 200
    assert all(len(request.body) > 100 for request in upstream.requests)
    assert gate.stats["samples"]["refused"] == 0
    gate.reload(texts[0])
    assert gate.current() == 200


# --- with parts of the same histograms

def test_senders_at_once_with_parts_of_the_same_histograms(limited, upstream):
    gate = limited("wholeHistograms: true\nmaxHourlySeries: 300\n")
    pods = [histogram(pod=str(pod)) for pod in range(80)]

    def send(shard):
        for _ in range(2):
            for series in pods:
                assert gate.send(body(series[shard::4])).status == 204

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    came = {each for got in upstream.requests for each in wire.series_of(got.raw)}
    whole = [series for series in pods if {identity(each) for each in series} <= came]
    assert len(came) == 12 * len(whole)
    current = gate.stats["windows"]["hourly"]["currentSeries"]
    assert current == len(came) >= 300
    assert gate.stats["windows"]["hourly"]["overLimitSeries"] == current - 300
    assert gate.metric("seriesgate_series_over_limit", window="hourly") == current - 300
