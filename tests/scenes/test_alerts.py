"""What the alerts of monitoring/alerts.yaml ask a gate for is there, and means what they take it for."""

import re

import rule_tests
import traffic
import wire
from exposition import parse
from gate import REPOSITORY
from rule_tests import ALERTS, RECORDS


def test_every_figure_and_label_that_an_alert_asks_for_is_there(limited, upstream):
    gate = limited(f"upstream: {{replicateTo: [{{url: '{upstream.url}/replica'}}]}}\n"
                   "maxHourlySeries: 4\ntenants: {default: {maxHourlySeries: 2}}\n"
                   "limits: [{name: a, each: [job], maxHourlySeries: 2}]\nexempt: [up]\nignoreLabels: [replica]\n")
    gate.send(traffic.body(traffic.numbered(3, name="up", replica="a")))
    for tenant in ("shop", "other"):
        gate.send(traffic.body(traffic.numbered(3, job=tenant)), [("X-Scope-OrgID", tenant)])
    metrics = parse(gate.get("/metrics").body)
    # Those of a gate in a fleet, as their own test has them.
    pinned = (REPOSITORY / "tests/fleet/fleet_exposition_test.cpp").read_text().split("TEST_CASE")[1].replace('\\"', '"')
    metrics |= parse("\n".join(re.findall(r'"(seriesgate_shared_.*)\\n"', pinned)).encode())
    there = {name.replace("duration_seconds_count", "duration_seconds_bucket") for name, _ in metrics}
    expressions = [rule["expr"] for rule in [*ALERTS.values(), *RECORDS]]
    recorded = {rule["record"] for rule in RECORDS}
    asked = set().union(*map(rule_tests.metric_names, expressions)) - {"up"}
    assert asked & recorded == recorded - {"seriesgate:limit_series:demand", "seriesgate:tenant_series:demand"}
    assert len(asked - recorded) == 34
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
