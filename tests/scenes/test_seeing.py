"""What the gate tells about itself: health, /stats, /metrics and the log."""

import re

import pytest

import exposition
import recorded
import servers
import wire
from upstream import Answer
from waiting import eventually
from world import time


@pytest.fixture
def busy(start_gate, upstream):
    """A gate that has seen accepted, refused and malformed requests. The store takes its time for each."""
    def store(_):
        time.sleep(0.25)
        return Answer()

    upstream.handler = store
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=3000", "--maxDailySeries=100000")
    for body in recorded.bodies()[:3]:
        gate.send(body)
    gate.send(b"bad")
    eventually(lambda: gate.stats["requests"]["total"] == 4, "all are counted: a request is when it has been answered")
    # Its duration is known a moment later, when the answer has been written.
    eventually(lambda: gate.metric("seriesgate_request_duration_seconds_count") == 4, "all durations are counted")
    return gate


@pytest.mark.parametrize("path", ["/health", "/-/healthy", "/-/ready"])
def test_health_and_readiness_are_ok(gate, path):
    eventually(lambda: gate.get("/-/ready").status == 200, "ready")
    reply = gate.get(path)
    assert (reply.status, reply.body.strip()) == (200, b"OK")
    assert gate.get(path + "?probe=1").status == 200
    with gate.client() as client:
        reply = client.request("HEAD", path)
        assert (reply.status, reply.body) == (200, b"")
        assert client.get(path).status == 200


def test_a_dead_upstream_does_not_make_the_gate_unhealthy(gate, upstream):
    upstream.stop()
    gate.send(wire.pack(wire.sampled("up")))
    assert gate.get("/health").status == 200
    eventually(lambda: gate.get("/-/ready").status == 200, "ready")


def numbers_in(value):
    """All of them, at any depth."""
    return [number for inner in value.values() for number in numbers_in(inner)] if isinstance(value, dict) else [value]


def test_stats_of_a_fresh_gate_are_zero(gate):
    stats = gate.stats
    assert set(numbers_in(stats["requests"])) == set(numbers_in(stats["samples"])) == set(numbers_in(stats["dropped"])) == {0}
    assert stats["uptimeSeconds"] <= 60
    for window in stats["windows"].values():
        assert {window[key] for key in ("maxSeries", "currentSeries", "refusedSeries", "refusedSamples",
                                        "overLimitSeries", "falsePositiveRate")} == {0}


def test_stats_count_what_was_sent(busy):
    stats = busy.stats
    requests = stats["requests"]
    assert (requests["total"], requests["rejected"], requests["upstreamErrors"]) == (4, 1, 0)
    assert requests["byStatus"] == {"204": 3, "400": 1}
    assert {reason: count for reason, count in requests["rejectedByReason"].items() if count} == {"malformed": 1}
    offered = len(recorded.distinct(recorded.bodies()[:3]))
    assert stats["samples"]["received"] == 6000
    assert stats["samples"]["accepted"] + stats["samples"]["refused"] == 6000
    hourly, daily = stats["windows"]["hourly"], stats["windows"]["daily"]
    assert (hourly["maxSeries"], daily["maxSeries"]) == (3000, 100_000)
    assert (hourly["currentSeries"], daily["currentSeries"]) == (3000, 3000)
    assert hourly["refusedSeries"] == pytest.approx(offered - 3000, rel=0.05)
    assert hourly["refusedSamples"] == stats["samples"]["refused"]
    assert 0 < hourly["falsePositiveRate"] <= 0.0001
    assert 3 * 3000 <= hourly["filterBytes"] < 1 << 20


def test_the_build_says_what_it_is(gate):
    (labels, value), = exposition.samples_of(gate.metrics, "seriesgate_build_info").items()
    labels = dict(labels)
    assert value == 1 and set(labels) == {"version", "revision", "compiler"}
    assert labels["version"] == gate.stats["version"]
    assert re.match(r"(gcc|clang) \d+\.", labels["compiler"])


@pytest.mark.parametrize("state", ["gate", "busy"])
def test_metrics_pass_promtool(request, state):
    servers.check_metrics(request.getfixturevalue(state).get("/metrics").body)


def test_metrics_agree_with_stats(busy):
    assert busy.get("/metrics").get("Content-Type").startswith("text/plain; version=0.0.4")
    metrics, stats = busy.metrics, busy.stats
    by_code = {dict(labels)["code"]: value for (name, labels), value in metrics.items()
               if name == "seriesgate_requests_total" and value}
    assert by_code == {"204": 3, "400": 1}
    for key in ("received", "accepted", "refused"):
        assert busy.metric(f"seriesgate_samples_{key}_total") == stats["samples"][key]
    rejected = sum(value for (name, _), value in metrics.items() if name == "seriesgate_requests_rejected_total")
    assert rejected == stats["requests"]["rejected"]
    for window, figures in stats["windows"].items():
        for key in ("current", "max", "refused"):
            assert busy.metric(f"seriesgate_series_{key}", window=window) == figures[f"{key}Series"]


def test_durations_are_histograms_that_add_up(busy):
    metrics = busy.metrics
    for name, expected in (("seriesgate_request_duration_seconds", 4),
                           ("seriesgate_upstream_request_duration_seconds", 2)):
        buckets = [(dict(labels)["le"], value)
                   for labels, value in exposition.samples_of(metrics, f"{name}_bucket").items()]
        assert buckets[-1] == ("+Inf", metrics[f"{name}_count", frozenset()])
        values = [value for _, value in buckets]
        assert values == sorted(values) and len(values) > 5
        assert metrics[f"{name}_count", frozenset()] == expected
        assert metrics[f"{name}_sum", frozenset()] == pytest.approx(2 * 0.25, abs=0.02)


def test_an_ordinary_run_logs_only_a_few_lines(gate):
    for body in recorded.bodies():
        gate.send(body)
    gate.send(b"bad")
    gate.stop()
    assert 1 <= len(gate.log.splitlines()) <= 10


def test_neither_bad_requests_nor_a_dead_upstream_flood_the_log(gate, upstream):
    upstream.stop()
    with gate.client() as client:
        for _ in range(200):
            assert client.write(b"bad").status == 400
            assert client.write(wire.pack(wire.sampled("up"))).status == 502
    gate.stop()
    assert len(gate.log.splitlines()) <= 20
