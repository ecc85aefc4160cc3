"""The recorded requests of a real Prometheus: 16 requests, 32,000 samples, 31,817 distinct series."""

import pytest

import recorded
from recorded import SAMPLES, SERIES, leaks_allowed
from upstream import distinct_series
from waiting import eventually

LIMIT = 10_000


def replay(gate, upstream):
    """Sends all recorded requests once. @return the distinct series that arrived and the (series, samples) refused"""
    upstream.clear()
    series = samples = 0
    with gate.client() as client:
        for body in recorded.bodies():
            reply = client.write(body)
            assert reply.status == 204
            if reply.refused:
                series += reply.refused[0]
                samples += reply.refused[1]
    return distinct_series(upstream.bodies), (series, samples)


def test_without_a_limit_all_arrive_and_are_counted(gate, upstream):
    arrived, refused = replay(gate, upstream)
    assert len(arrived) == SERIES
    assert upstream.bodies == recorded.bodies(), "byte for byte"
    assert refused == (0, 0)
    eventually(lambda: gate.stats["requests"]["total"] == 16, "the last one is counted, too")
    stats = gate.stats
    requests = stats["requests"]
    assert (requests["total"], requests["rejected"], requests["upstreamErrors"]) == (16, 0, 0)
    assert stats["samples"] == {"received": SAMPLES, "accepted": SAMPLES, "refused": 0, "stored": SAMPLES, "failed": 0, "leftOut": 0}
    for window in stats["windows"].values():
        assert (window["maxSeries"], window["currentSeries"], window["refusedSeries"]) == (0, SERIES, 0)


@pytest.mark.parametrize("flag, window", [("maxHourlySeries", "hourly"), ("maxDailySeries", "daily")])
def test_a_limit_admits_exactly_its_number_of_series_and_the_same_ones_again(start_gate, upstream, flag, window):
    gate = start_gate(f"--upstream.url={upstream.url}", f"--{flag}={LIMIT}")
    first, (_, refused_samples) = replay(gate, upstream)
    arrived_samples = recorded.sample_count(upstream.bodies)

    assert LIMIT <= len(first) <= LIMIT + leaks_allowed(SERIES - LIMIT)
    stats = gate.stats
    other = "daily" if window == "hourly" else "hourly"
    assert stats["windows"][window]["maxSeries"] == LIMIT
    assert stats["windows"][other]["maxSeries"] == 0
    assert stats["windows"][window]["currentSeries"] == LIMIT
    assert stats["windows"][other]["currentSeries"] == LIMIT
    assert arrived_samples + refused_samples == SAMPLES
    assert stats["samples"] == {"received": SAMPLES, "accepted": arrived_samples, "refused": refused_samples,
                                "stored": arrived_samples, "failed": 0, "leftOut": 0}
    assert stats["windows"][window]["refusedSamples"] == refused_samples
    assert stats["windows"][window]["refusedSeries"] == pytest.approx(SERIES - LIMIT, rel=0.05)
    assert stats["windows"][other]["refusedSeries"] == stats["windows"][other]["refusedSamples"] == 0

    for _ in range(2):
        again, _ = replay(gate, upstream)
        assert again == first
    stats = gate.stats
    assert stats["windows"][window]["currentSeries"] == LIMIT
    assert stats["windows"][window]["refusedSeries"] == pytest.approx(SERIES - LIMIT, rel=0.05)
    assert stats["windows"][window]["refusedSamples"] == 3 * refused_samples


def test_the_first_series_offered_are_the_ones_admitted(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", f"--maxHourlySeries={LIMIT}")
    replay(gate, upstream)
    assert upstream.bodies[:5] == recorded.bodies()[:5]


def test_native_histograms_and_samples_share_one_count_of_series(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=2000")
    for body in recorded.bodies("native-histograms-v1") * 2:
        assert gate.send(body).refused is None
    assert gate.current() == 1096
