"""Budgets against what is in a real VictoriaMetrics: as many series as the gate says, and nothing healthy lost."""

import collections
import math
import random

import pytest

import faked_clock
import recorded
import traffic
import wire
from traffic import figures, limits, numbered, tenants
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def value_of(labels, name):
    return dict(labels).get(name.encode(), b"").decode()


def counted(stored, *names):
    """How many stored series there are by the values of these labels."""
    counts = collections.Counter(tuple(value_of(labels, name) for name in names) for labels in stored)
    return {key[0] if len(key) == 1 else key: count for key, count in counts.items()}


# --- tenants and groups

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


# --- one sick namespace

STEPS, STEP = 60, 15_000
TRACES = 10_000
BUDGET = 200

SICK = f"""
falsePositiveRate: 0.000000001
maxHourlySeries: 1000
limits:
  - {{name: per-namespace, each: [namespace], maxHourlySeries: {BUDGET}}}
"""


class Namespaces:
    """Five healthy namespaces, and one whose trace_id explodes to 50 times its budget, beside 150 ordinary series."""

    def __init__(self):
        self.first = int(time.time() * 1000) // STEP * STEP - (STEPS + 4) * STEP
        self.healthy = [labels for at in range(5)
                        for labels in numbered(40 if at else BUDGET, name="latency", namespace=f"healthy-{at}")]
        self.sick = numbered(150, name="latency", namespace="sick")

    def request(self, step):
        """All that is sent of one moment: the explosion in front, so that it would win every race."""
        each = TRACES // STEPS + 1
        traces = [{"__name__": "latency", "namespace": "sick", "trace_id": f"{number:032x}"}
                  for number in range(step * each, min((step + 1) * each, TRACES))]
        begun = self.sick if step == 0 else traces + self.sick
        return traffic.body(begun + self.healthy, self.first + step * STEP)

    def assert_all_there(self, stored):
        """Every sample of every healthy namespace, and of the ordinary series of the sick one."""
        times = {self.first + step * STEP: 1.0 for step in range(STEPS)}
        for labels in self.healthy + self.sick:
            assert stored[traffic.identity(labels)] == times, labels
        assert sum(map(len, (stored[traffic.identity(labels)] for labels in self.healthy))) == STEPS * len(self.healthy)


def run(gate, namespaces, before_step=lambda step: None):
    with gate.client() as client:
        for step in range(STEPS):
            before_step(step)
            assert client.write(namespaces.request(step)).status == 204


def test_an_hour_that_ends_in_the_middle_of_an_explosion_costs_no_one_a_sample(start_gate, victoria_metrics, tmp_path):
    clock = faked_clock.FakedClock(tmp_path, "2026-03-10 12:59:59")
    gate = start_gate(f"--upstream.url={victoria_metrics.write_url}", config=SICK, environment=clock.environment)
    namespaces = Namespaces()

    def before_step(step):
        if step == 30:
            clock.set("2026-03-10 13:00:00")
        if step == 45:
            # No trace that was admitted in the hour before has come back, and room was kept for them until now.
            assert counted(victoria_metrics.samples(), "namespace")["sick"] == BUDGET
            clock.set("2026-03-10 13:10:00")

    run(gate, namespaces, before_step)
    stored, stats = victoria_metrics.samples(), gate.stats
    assert stats["windows"]["hourly"]["start"] == "2026-03-10T13:00:00Z"
    namespaces.assert_all_there(stored)
    shown, counts = limits(stats, "per-namespace"), counted(stored, "namespace")
    # In the second hour the budget is what it was in the first: 150 that came back, and 50 other traces.
    assert counts == {"sick": BUDGET + 50, "healthy-0": BUDGET, **{f"healthy-{at}": 40 for at in range(1, 5)}}
    assert counts == {name: entry["daily"]["currentSeries"] for name, entry in shown.items()}
    assert figures(shown["sick"])[:2] == (BUDGET, BUDGET)
