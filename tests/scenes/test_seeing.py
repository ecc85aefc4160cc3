"""What the gate tells about itself: health, /stats, /metrics and the log."""

import re

import pytest

import exposition
import recorded
import rule_tests
import servers
import traffic
import wire
from gate import REPOSITORY
from provoked_lines import lines_for, said_in
from rule_tests import ALERTS, RECORDS
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


# --- what the alerts of monitoring/alerts.yaml ask for is there, and means what they take it for

def test_every_figure_and_label_that_an_alert_asks_for_is_there(limited, upstream):
    gate = limited(f"upstream: {{replicateTo: [{{url: '{upstream.url}/replica'}}]}}\n"
                   "maxHourlySeries: 4\ntenants: {default: {maxHourlySeries: 2}}\n"
                   "limits: [{name: a, each: [job], maxHourlySeries: 2}]\nexempt: [up]\nignoreLabels: [replica]\n"
                   "warmStart: {url: 'http://127.0.0.1:9', timeout: 1s}\n")
    eventually(lambda: gate.metric("seriesgate_warm_start_running") == 0, "the warm start ends")
    gate.send(traffic.body(traffic.numbered(3, name="up", replica="a")))
    for tenant in ("shop", "other"):
        gate.send(traffic.body(traffic.numbered(3, job=tenant)), [("X-Scope-OrgID", tenant)])
    metrics = exposition.parse(gate.get("/metrics").body)
    # Those of a gate in a fleet, as their own test has them.
    pinned = (REPOSITORY / "tests/fleet/fleet_exposition_test.cpp").read_text().split("TEST_CASE")[1].replace('\\"', '"')
    metrics |= exposition.parse("\n".join(re.findall(r'"(seriesgate_shared_.*)\\n"', pinned)).encode())
    there = {name.replace("duration_seconds_count", "duration_seconds_bucket") for name, _ in metrics}
    expressions = [rule["expr"] for rule in [*ALERTS.values(), *RECORDS]]
    recorded = {rule["record"] for rule in RECORDS}
    asked = set().union(*map(rule_tests.metric_names, expressions)) - {"up"}
    assert asked & recorded == recorded - {"seriesgate:limit_series:demand", "seriesgate:tenant_series:demand"}
    assert len(asked - recorded) == 44
    assert asked - recorded <= there, asked - recorded - there
    for name, label, value in re.findall(r'(seriesgate_\w+)\{(\w+)="([^"]*)"\}', "\n".join(expressions)):
        values = {dict(labels)[label] for family, labels in metrics if family == name}
        assert value in values or label == "mode", (name, label, value)


def test_a_stale_marker_of_an_unknown_series_is_refused_by_no_limit(limited):
    gate = limited("maxHourlySeries: 1\n")
    stale = wire.series({"__name__": "gone"}, wire.field(wire.SAMPLES, wire.sample(wire.STALE, 2_000)))
    gate.send(wire.pack(stale))
    assert gate.metric("seriesgate_samples_refused_total") == 1
    assert gate.metric("seriesgate_samples_refused_by_limits_total") == 0
    gate.send(wire.pack(stale + wire.sampled("first") + wire.sampled("second") + wire.sampled("third")))
    assert gate.metric("seriesgate_samples_refused_total") == 4
    assert gate.metric("seriesgate_samples_refused_by_limits_total") == 2


def test_the_gate_says_whether_it_observes_and_a_reload_keeps_what_would_have_been_refused(limited):
    limits = "maxHourlySeries: 100\ntenants: {default: {maxHourlySeries: 2}}\n"
    gate = limited("mode: observe\n" + limits)
    gate.send(traffic.body(traffic.numbered(3)), [("X-Scope-OrgID", "shop")])
    assert gate.metric("seriesgate_observe") == 1
    text = gate.config_file.read_text()
    assert gate.reload(text.replace("mode: observe\n", "")).status == 200
    assert gate.metric("seriesgate_observe") == 0
    figure = {"tenant": "shop", "mode": "enforce", "window": "hourly"}
    assert gate.metric("seriesgate_tenant_series_refused", **figure) == 1
    assert not [name for name, _ in gate.metrics if name == "seriesgate_limit_samples_refused_total"]
    gate.send(traffic.body(traffic.numbered(9)), [("X-Scope-OrgID", "shop")])
    assert gate.metric("seriesgate_limit_samples_refused_total", limit="tenant", tenant="shop") > 0


# --- lines of docs/logs.md, provoked (those that need a real process: tests/e2e/test_log_lines.py)

LINES = {message: provoke for lines in lines_for(real=False).values() for message, provoke in lines.items()}


@pytest.mark.parametrize("form", ["logfmt", "json"])
@pytest.mark.parametrize("message", LINES)
def test_what_happens_is_said(tmp_path, form, message):
    said_in(form, tmp_path, message, LINES[message])
