"""Budgets of tenants and of label groups: what each admits, and that a refusal by one costs nothing in the others."""

import pytest

import traffic
from traffic import body, figures, limits, numbered, offer, tenants


def test_a_tenant_is_what_its_header_says(limited, upstream):
    gate = limited("tenants: {default: {maxHourlySeries: 3}}\n")
    for tenant in ("team-a", "team-b", None):
        assert len(offer(gate, upstream, numbered(5), tenant)) == 3
        assert upstream.requests[0].get(traffic.TENANT) == tenant
    assert len(offer(gate, upstream, numbered(5), "")) == 3  # as without a header
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {
        "team-a": (3, 3, 2), "team-b": (3, 3, 2), "": (3, 3, 2)}


def test_the_tenant_header_has_any_name_in_any_case(limited, upstream):
    gate = limited("tenants: {header: THANOS-TENANT, default: {maxHourlySeries: 3}}\n")
    assert len(offer(gate, upstream, numbered(2), "a", "THANOS-TENANT")) == 2
    assert len(offer(gate, upstream, numbered(5), "a", "thanos-tenant")) == 3
    assert len(offer(gate, upstream, numbered(1, start=50), "b", traffic.TENANT)) == 1
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {"a": (3, 3, 2), "": (3, 1, 0)}


def test_every_value_has_a_budget_and_single_ones_another_maximum(limited, upstream):
    gate = limited("""
limits:
  - name: per-namespace
    each: [namespace]
    maxHourlySeries: 3
    overrides:
      - {group: {namespace: kube-system}, maxHourlySeries: 5}
      - {group: {namespace: free}, maxHourlySeries: 0}
""")
    admitted = {namespace: len(offer(gate, upstream, numbered(9, namespace=namespace)))
                for namespace in ("a", "b", "kube-system", "free", "")}
    assert admitted == {"a": 3, "b": 3, "kube-system": 5, "free": 9, "": 3}
    assert len(offer(gate, upstream, numbered(9, start=4))) == 0  # no label is the empty one
    assert {key: figures(entry) for key, entry in limits(gate.stats, "per-namespace").items()} == {
        "a": (3, 3, 6), "b": (3, 3, 6), "kube-system": (5, 5, 4), "free": (0, 9, 0), "": (3, 3, 10)}


FIVE = """
maxHourlySeries: {0}
maxDailySeries: {1}
tenants: {{overrides: {{team: {{maxHourlySeries: {2}, maxDailySeries: {3}}}}}}}
limits:
  - {{name: all, maxHourlySeries: {4}, maxDailySeries: {5}}}
  - {{name: per-namespace, each: [namespace], maxHourlySeries: {6}, maxDailySeries: {7}}}
  - {{name: sick, match: '{{n=~".+"}}', each: [__name__], perTenant: true, maxHourlySeries: {8}, maxDailySeries: {9}}}
"""
BUDGETS = ["global", "tenant", "all", "per-namespace", "sick"]


def five(stats):
    return dict(zip(BUDGETS, [stats["windows"], tenants(stats)["team"], *(
        next(entry for entry in stats["limits"] if entry["name"] == name) for name in BUDGETS[2:])], strict=True))


@pytest.mark.parametrize("window", ["hourly", "daily"])
@pytest.mark.parametrize("spent", range(5), ids=BUDGETS)
def test_a_refusal_by_one_of_five_budgets_costs_nothing_in_the_others(limited, upstream, spent, window):
    daily = window == "daily"
    maxima = [100] * 10
    maxima[2 * spent + daily] = 3
    gate = limited(FIVE.format(*maxima))
    series = numbered(8, namespace="n")
    for _ in range(2):
        assert offer(gate, upstream, series, "team") == series[:3]
    for at, (name, entry) in enumerate(five(gate.stats).items()):
        for each in ("hourly", "daily"):
            limit = 3 if (at, each) == (spent, window) else 100
            # The whole's refusedSeries are those of all budgets together.
            refused = 5 if each == window and at in (0, spent) else 0
            assert figures(entry, each) == (limit, 3, refused), (name, each)


def test_a_replica_counts_once_and_goes_up_as_it_came(limited, upstream):
    gate = limited("ignoreLabels: [prometheus_replica]\nmaxHourlySeries: 5\n"
                   "limits: [{name: per-job, each: [job], maxHourlySeries: 5}]\n")
    pair = [numbered(5, job="a", prometheus_replica=replica) for replica in ("r0", "r1")]
    for series in pair:
        assert offer(gate, upstream, series) == series
        assert upstream.bodies == [body(series)]
    for replica in ("r0", "r1"):
        assert offer(gate, upstream, numbered(3, start=10, job="a", prometheus_replica=replica)) == []
    stats = gate.stats
    assert figures(stats["windows"]) == (5, 5, 3)
    assert figures(limits(stats, "per-job")["a"]) == (5, 5, 3)
