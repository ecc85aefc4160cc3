"""Many senders at once: a limit is never exceeded by one, and no series is counted twice."""

import random

import pytest

import recorded
import wire
from recorded import SERIES, leaks_allowed
from upstream import distinct_series
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
