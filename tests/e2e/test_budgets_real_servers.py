"""Budgets against what is in a real VictoriaMetrics: as many series as the gate says."""

import collections
import math
import random

import pytest

import recorded
import traffic
import wire
from traffic import limits, numbered, tenants
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def value_of(labels, name):
    return dict(labels).get(name.encode(), b"").decode()


def counted(stored, *names):
    """How many stored series there are by the values of these labels."""
    counts = collections.Counter(tuple(value_of(labels, name) for name in names) for labels in stored)
    return {key[0] if len(key) == 1 else key: count for key, count in counts.items()}


LIMITS = """
falsePositiveRate: 0.000000001
tenants:
  default: {maxHourlySeries: 1000}
  overrides: {prometheus: {maxHourlySeries: 0}, team-b: {maxHourlySeries: 700, maxDailySeries: 600}}
limits:
  - name: per-namespace
    each: [namespace]
    maxHourlySeries: 380
    overrides:
      - {group: {namespace: monitoring}, maxHourlySeries: 12000}
      - {group: {namespace: ""}, maxHourlySeries: 0, maxDailySeries: 900}
  - name: per-job-and-metric
    match: '{job!=""}'
    each: [job, __name__]
    maxHourlySeries: 150
    overrides: [{group: {job: shop, __name__: requests}, maxHourlySeries: 0}]
"""

NAMESPACES = {"team-a": ("a1", "a2", "a3"), "team-b": ("b1", "b2", "b3")}


def recent(pb, bodies, newest):
    """The recorded requests, moved in time, with a number for each NaN: VictoriaMetrics keeps none."""
    messages = recorded.moved_to([pb.WriteRequest.FromString(wire.unpack(body)) for body in bodies], newest)
    for message in messages:
        for sample in (sample for series in message.timeseries for sample in series.samples):
            if math.isnan(sample.value):
                sample.value = 1
    return [wire.pack(message.SerializeToString()) for message in messages]


def offered(pb, at):
    """(tenant, body) of each request: recorded ones and generated ones, one namespace belonging to one tenant."""
    requests = [("prometheus", body) for body in recent(pb, recorded.bodies(), at)]
    for tenant, names in NAMESPACES.items():
        requests += [(tenant, traffic.body(numbered(100, 100 * part, name, job="shop", namespace=namespace), at))
                     for namespace in names for name in ("requests", "errors") for part in range(4)]
    return requests + [(None, traffic.body(numbered(50, job=f"job-{job}"), at)) for job in range(30)]


def test_the_store_has_as_many_series_of_each_tenant_and_group_as_the_gate_counts(start_gate, victoria_metrics, pb):
    gate = start_gate(f"--upstream.url={victoria_metrics.write_url}", config=LIMITS)
    now = int(time.time() * 1000)
    for at in (now - 121_001, now - 60_000):
        requests = offered(pb, at)
        random.Random(3).shuffle(requests)
        for tenant, body in requests:
            assert gate.send(body, [(traffic.TENANT, tenant)] if tenant else []).status == 204

    stored, stats = victoria_metrics.samples(), gate.stats
    assert len(stored) == stats["windows"]["hourly"]["currentSeries"]
    for window in ("hourly", "daily"):
        shown = {key: entry[window]["currentSeries"] for key, entry in limits(stats, "per-namespace").items()}
        assert {key: count for key, count in shown.items() if count} == counted(stored, "namespace")
    shown = {key: entry["hourly"]["currentSeries"] for key, entry in limits(stats, "per-job-and-metric").items()}
    assert {key: count for key, count in shown.items() if count} == counted(stored, "job", "__name__")
    by_namespace = counted(stored, "namespace")
    of_tenant = {name: entry["hourly"]["currentSeries"] for name, entry in tenants(stats).items()}
    for tenant, names in NAMESPACES.items():
        assert of_tenant[tenant] == sum(by_namespace.get(name, 0) for name in names), tenant
    assert of_tenant["prometheus"] + of_tenant[""] == by_namespace["monitoring"] + by_namespace[""]
    # Each kind of budget has had something to refuse: tenants by hour and by day, groups, single groups.
    assert (of_tenant["team-a"], of_tenant["team-b"]) == (1000, 600)
    assert by_namespace["monitoring"] == 12_000 and by_namespace[""] == 900
    assert max(by_namespace[name] for name in ("a1", "a2", "a3")) == 380
    # "shop" has a budget of 150 for its errors and any number of requests.
    by_job = counted(stored, "job", "__name__")
    assert by_job["shop", "errors"] == 150 < by_job["shop", "requests"]
